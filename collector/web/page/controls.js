/*
 * The head of the page: range, agent, filters, what is in force of them, and the two switches that are
 * kept in the browser and not in the address: UTC, and dark or light.
 */
import * as address from './address.js';
import {now} from './api.js';
import {$, make, reconcile, setAttribute, setText} from './dom.js';
import * as format from './format.js';

const POOR = 0.99; /* completeness below which samples are missing */

/* ---- kept in the browser ---- */

function kept(name) {
	try {
		return localStorage.getItem(name);
	} catch {
		return null; /* where the browser keeps nothing */
	}
}

function keep(name, value) {
	try {
		localStorage.setItem(name, value);
	} catch {
		/* it holds until the page is closed */
	}
}

export const preferences = {utc: kept('utc') === 'yes', theme: kept('theme')};

function isDark() {
	return preferences.theme ? preferences.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

function showTheme() {
	setAttribute(document.documentElement, 'data-theme', isDark() ? 'dark' : 'light');
	setText($('theme'), isDark() ? 'Light' : 'Dark');
}

function showUtc() {
	setAttribute($('utc'), 'aria-pressed', preferences.utc);
}

/* look(): after a change of how, not of what is shown. */
function startPreferences(look) {
	$('theme').addEventListener('click', () => {
		preferences.theme = isDark() ? 'light' : 'dark';
		keep('theme', preferences.theme);
		showTheme();
		look();
	});
	$('utc').addEventListener('click', () => {
		preferences.utc = !preferences.utc;
		keep('utc', preferences.utc ? 'yes' : 'no');
		showUtc();
		look();
	});
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
		showTheme();
		look();
	});
	showTheme();
	showUtc();
}

/* ---- range and filters ---- */

function makeChip() {
	return make('li', {}, make('button', {type: 'button'}));
}

function fillChip(element, {name, value}) {
	const button = element.firstElementChild;

	setText(button, `${name} ${value} ✕`);
	setAttribute(button, 'aria-label', `Filter ${name} ${value}: take it away`);
	button.filter = name;
}

export class Controls {
	#answered; /* {from, to, newest}: of the last answer, ms */

	/* change(changes) of the view, view(): the present one, look(): draw again. */
	constructor({change, view, look}) {
		this.view = view;
		this.change = change;
		startPreferences(look);
		$('presets').append(...address.PRESETS.map((last) => make('button', {type: 'button', 'data-last': last, text: last})));
		$('presets').addEventListener('click', ({target}) => target.dataset.last && change({last: target.dataset.last}));
		for (const [id, direction] of [['earlier', -1], ['later', 1]])
			$(id).addEventListener('click', () =>
				this.#answered && change(address.stepped(view(), this.#answered, direction)));
		$('live').addEventListener('click', () => this.#toggleLive());
		$('home').addEventListener('click', (event) => {
			event.preventDefault();
			change(address.parse(''));
		});
		this.#startForms();
		this.#startChoices();
	}

	#toggleLive() {
		const view = this.view();

		if (!address.isLive(view))
			this.change({last: this.lastSpan ?? '5m'});
		else if (this.#answered)
			this.change(address.range(this.#answered.from, this.#answered.to));
	}

	#startForms() {
		$('custom').addEventListener('toggle', () => {
			if ($('custom').open && this.#answered) {
				$('from').value = format.toInput(this.#answered.from, preferences.utc);
				$('to').value = format.toInput(this.#answered.to, preferences.utc);
			}
		});
		$('custom-form').addEventListener('submit', (event) => {
			event.preventDefault();
			$('custom').open = false;
			this.change(address.range(format.fromInput($('from').value, preferences.utc),
			    format.fromInput($('to').value, preferences.utc)));
		});
		$('custom').addEventListener('keydown', (event) => {
			if (event.key === 'Escape') {
				$('custom').open = false;
				$('range').focus();
			}
		});
		$('filter').addEventListener('submit', (event) => {
			event.preventDefault();
			this.change(address.parseFilter($('filter-text').value));
			$('filter-text').value = '';
		});
	}

	#startChoices() {
		$('agent').addEventListener('change', () => this.change({agent: $('agent').value || undefined}));
		$('chips').addEventListener('click', ({target}) => target.filter && this.change({[target.filter]: undefined}));
		for (const name of ['sort', 'layer'])
			$(name).addEventListener('click', ({target}) =>
				target.dataset[name] && this.change({[name]: target.dataset[name]}));
	}

	/* What the address says, at once. */
	showView(view) {
		this.lastSpan = view.last ?? this.lastSpan;
		for (const button of $('presets').children)
			setAttribute(button, 'aria-pressed', button.dataset.last === view.last);
		for (const name of ['sort', 'layer'])
			for (const button of $(name).children)
				setAttribute(button, 'aria-pressed', button.dataset[name] === view[name]);
		setAttribute($('live'), 'aria-pressed', address.isLive(view));
		reconcile($('chips'), address.filtersOf(view), ({name}) => name, makeChip, fillChip);
	}

	/* What was answered: the range in full, completeness, age. */
	showAnswer(result) {
		this.#answered = {from: Date.parse(result.from), to: Date.parse(result.to), newest: Date.parse(result.newest ?? '')};
		setText($('complete'), format.completeness(result.completeness));
		setAttribute($('complete'), 'data-bad', format.known(result.completeness) && result.completeness < POOR ? 'yes' : undefined);
		setAttribute($('complete'), 'title', `${format.count(result.samples)} of ${format.count(result.expected)} samples`);
		this.tick();
	}

	/* Agents to choose among; the one chosen stays in the list when it has nothing in the range. */
	showAgents(result, view) {
		const names = [...new Set([...result.rows.map((row) => row.agent), ...view.agent ? [view.agent] : []])];

		reconcile($('agent'), [{value: '', text: `all ${result.rows.length > 1 ? result.rows.length : ''}`.trim()},
			...names.map((value) => ({value, text: value}))], ({value}) => value, () => make('option'),
		    (option, {value, text}) => {
			setText(option, text);
			setAttribute(option, 'value', value);
		});
		$('agent').value = view.agent ?? '';
	}

	/* Once a second, and after each change: what depends on the clock. */
	tick() {
		const answered = this.#answered;

		if (!answered)
			return;
		setText($('range'), format.times(answered.from, answered.to, now(), preferences.utc));
		setText($('age'), Number.isNaN(answered.newest) ? format.UNKNOWN : format.age((now() - answered.newest) / 1000));
		setAttribute($('age'), 'title', Number.isNaN(answered.newest) ? undefined : `newest data: ${format.time(answered.newest, preferences.utc)}`);
	}
}
