/*
 * Arrow keys move among many buttons, of which Tab reaches only one (roving tabindex): tiles, and the
 * cells of the matrix.
 */

function nearest(current, candidates, axis, direction) {
	const here = current.getBoundingClientRect();
	const other = axis === 'y' ? 'x' : 'y';
	const middle = ({left, top, width, height}, a) =>
	    (a === 'x' ? left + width / 2 : top + height / 2);
	let best = null, least = Infinity;

	for (const candidate of candidates) {
		const rect = candidate.getBoundingClientRect();
		const along = (middle(rect, axis) - middle(here, axis)) * direction;
		const across = Math.abs(middle(rect, other) - middle(here, other));

		/* The nearest row in the direction of the arrow, then the nearest element. */
		if (along > 2 && along * 1000 + across < least) {
			least = along * 1000 + across;
			best = candidate;
		}
	}
	return best;
}

export function rove(container, selector) {
	const all = () => [...container.querySelectorAll(selector)].filter((e) => e.offsetParent);
	const moveTo = (element) => {
		if (!element)
			return;
		container.querySelector(`${selector}[tabindex="0"]`)
		    ?.setAttribute('tabindex', '-1');
		element.setAttribute('tabindex', '0');
		element.focus();
	};
	const moves = {
		ArrowRight: (list, i) => list[i + 1],
		ArrowLeft: (list, i) => list[i - 1],
		ArrowDown: (list, i) => nearest(list[i], list, 'y', 1),
		ArrowUp: (list, i) => nearest(list[i], list, 'y', -1),
		Home: (list) => list[0],
		End: (list) => list.at(-1),
	};

	container.addEventListener('keydown', (event) => {
		const list = all(), i = list.indexOf(event.target);

		if (i < 0 || !moves[event.key] || event.ctrlKey || event.altKey || event.metaKey)
			return;
		event.preventDefault();
		moveTo(moves[event.key](list, i));
	});
	container.addEventListener('click', (event) => {
		const element = event.target.closest(selector);

		if (element && container.contains(element))
			moveTo(element);
	});
}

/* After the elements have changed: makes sure that Tab reaches one of them. */
export function keepRovable(container, selector) {
	if (!container.querySelector(`${selector}[tabindex="0"]:not([hidden])`)) {
		for (const stale of container.querySelectorAll(`${selector}[tabindex="0"]`))
			stale.setAttribute('tabindex', '-1');
		container.querySelector(`${selector}:not([hidden])`)?.setAttribute('tabindex', '0');
	}
}
