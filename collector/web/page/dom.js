/*
 * Small helpers for the document. Text comes from devices and from the network, so it is only ever
 * set as text, and no function takes markup. Elements are changed in place, so that a live page
 * neither flickers nor loses focus and scroll position.
 */

export function $(id) {
	return document.getElementById(id);
}

/* properties: class and text, or the name of an attribute. */
export function make(tag, properties = {}, ...children) {
	const element = document.createElement(tag);

	for (const [name, value] of Object.entries(properties))
		if (name === 'text')
			element.textContent = value;
		else if (value !== undefined && value !== false)
			element.setAttribute(name, value);
	element.append(...children);
	return element;
}

export function setText(element, text) {
	if (element.textContent !== text)
		element.textContent = text;
}

/* undefined removes the attribute; false is a value, which ARIA distinguishes from none. */
export function setAttribute(element, name, value) {
	if (value === undefined)
		element.removeAttribute(name);
	else if (element.getAttribute(name) !== String(value))
		element.setAttribute(name, value);
}

/*
 * Makes parent's children those of the items, in their order: an item's element is found by its
 * key, or made by create(item), and then filled by update(element, item). Items of one key have an element each.
 */
export function reconcile(parent, items, keyOf, create, update) {
	const old = new Map([...parent.children].map((element) => [element.dataset.key, element]));
	const focused = document.activeElement, used = new Set();
	let at = parent.firstElementChild;

	for (const item of items) {
		let key = String(keyOf(item));

		while (used.has(key))
			key += ' again';
		used.add(key);
		let element = old.get(key);

		if (!element) {
			element = create(item);
			element.dataset.key = key;
		}
		old.delete(key);
		update(element, item);
		if (element === at)
			at = at.nextElementSibling;
		else
			parent.insertBefore(element, at);
	}
	for (const element of old.values())
		element.remove();
	if (focused !== document.activeElement && focused?.isConnected)
		focused.focus({preventScroll: true});
}

/* Handles clicks on buttons that filter: property `filter` of a button is the change of the view. */
export function onFilter(container, change) {
	container.addEventListener('click', ({target}) => {
		const button = target.closest('button');

		if (button?.filter)
			change(button.filter);
	});
}

/* ---- tables as alternatives to pictures ---- */

function fillCell(element, {text, filter}) {
	let button = element.firstElementChild;

	if (!filter) {
		setText(element, text);
		return;
	}
	if (!button) {
		button = make('button', {type: 'button', class: 'filter'});
		element.append(button);
	}
	setText(button, text);
	button.filter = filter;
}

const numbered = (cells) => cells.map((cell, i) => ({...cell, i}));

/* names: of the columns; rows: {key, cells: [{text, filter (optional)}]}. */
export function fillTable(container, names, rows) {
	const byNumber = ({i}) => i;
	const heads = numbered(names.map((text) => ({text})));

	if (!container.firstElementChild) {
		const head = make('thead', {}, make('tr'));

		container.append(make('table', {class: 'plain'}, head, make('tbody')));
	}
	reconcile(container.querySelector('thead tr'), heads, byNumber,
	    () => make('th', {scope: 'col'}), fillCell);
	reconcile(container.querySelector('tbody'), rows, ({key}) => key, () => make('tr'),
	    (row, {cells}) =>
		reconcile(row, numbered(cells), byNumber, () => make('td'), fillCell));
}
