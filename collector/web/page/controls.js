/*
 * The head of the page: range, agent, filters, the filters in force, and the two preferences that
 * are kept in the browser and not in the address: UTC, and dark or light.
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
		return null; /* the browser has no storage */
	}
}

function keep(name, value) {
	try {
		localStorage.setItem(name, value);
	} catch {
		/* the preference is lost when the page is closed */
	}
}

export const preferences = {
	utc: kept('utc') === 'yes',
	theme: kept('theme')
};

function isDark() {
	if (preferences.theme)
		return preferences.theme === 'dark';
	return matchMedia('(prefers-color-scheme: dark)').matches;
}

function showTheme() {
	setAttribute(document.documentElement, 'data-theme', isDark() ? 'dark' : 'light');
	setText($('theme'), isDark() ? 'Light' : 'Dark');
}

function showUtc() {
	setAttribute($('utc'), 'aria-pressed', preferences.utc);
}

/* look(): draws the same answers again, after a change of how they look. */
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

function presetButton(last) {
	return make('button', {type: 'button', 'data-last': last, text: last});
}

/* Buttons of a group, each with the value that it gives the view. */
function onChoice(id, name, change) {
	$(id).addEventListener('click', ({target}) => {
		if (target.dataset[name])
			change({[name]: target.dataset[name]});
	});
}

function showChoice(id, name, view) {
	for (const button of $(id).children)
		setAttribute(button, 'aria-pressed', button.dataset[name] === view[name]);
}

function makeChip() {
	return make('li', {}, make('button', {type: 'button'}));
}

function fillChip(element, {name, value, undo}) {
	const button = element.firstElementChild;

	const short = name === 'proto' ? format.protocol(value) : value;
	const text = name === 'filter' ? value : `${name} ${short}`;

	setText(button, `${text} ✕`);
	setAttribute(button, 'aria-label', `Remove the filter ${text}`);
	button.undo = undo;
}

/* How wrong an agent's clock is: " (clock 3 h behind)". */
function clockText(behindS) {
	return ` (clock ${format.age(Math.abs(behindS))} ${behindS > 0 ? 'behind' : 'ahead'})`;
}

function fillOption(option, {value, text}) {
	setText(option, text);
	setAttribute(option, 'value', value);
}

export class Controls {
	#answered; /* {from, to, newest, counted}: of the last answer, ms; counted: up to its end */

	/* change(changes) of the view; tryFilter(changes): the same if the collector accepts them,
	 * and a promise of whether it did; view(): the present one; look(): draws again. */
	constructor({change, tryFilter, view, look}) {
		this.view = view;
		this.change = change;
		this.tryFilter = tryFilter;
		startPreferences(look);
		$('presets').append(...address.PRESETS.map(presetButton));
		onChoice('presets', 'last', change);
		$('earlier').addEventListener('click', () => this.#step(-1));
		$('later').addEventListener('click', () => this.#step(1));
		$('live').addEventListener('click', () => this.#toggleLive());
		$('home').addEventListener('click', (event) => {
			event.preventDefault();
			change(address.parse(''));
		});
		this.#startForms();
		this.#startChoices();
	}

	#step(direction) {
		if (this.#answered)
			this.change(address.stepped(this.view(), this.#answered, direction));
	}

	#toggleLive() {
		const view = this.view();

		if (!address.isLive(view))
			this.change({last: this.lastSpan ?? '5m'});
		else if (this.#answered)
			this.change(address.range(this.#answered.from, this.#answered.to));
	}

	#openRange() {
		const {utc} = preferences;

		if ($('custom').open && this.#answered) {
			$('from').value = format.toInput(this.#answered.from, utc);
			$('to').value = format.toInput(this.#answered.to, utc);
		}
	}

	#takeRange(event) {
		const [from, to] =
		    ['from', 'to'].map((id) => format.fromInput($(id).value, preferences.utc));

		event.preventDefault();
		$('custom').open = false;
		this.change(address.range(from, to));
	}

	/* A filter that is refused stays in the field, to be corrected. */
	async #takeFilter(event) {
		const field = $('filter-text'), text = field.value;

		event.preventDefault();
		if (await this.tryFilter(text.trim() ? {also: text.trim()} : {}) && field.value === text)
			field.value = '';
	}

	#startForms() {
		$('custom').addEventListener('toggle', () => this.#openRange());
		$('custom-form').addEventListener('submit', (event) => this.#takeRange(event));
		$('custom').addEventListener('keydown', (event) => {
			if (event.key === 'Escape') {
				$('custom').open = false;
				$('range').focus();
			}
		});
		$('filter').addEventListener('submit', (event) => this.#takeFilter(event));
	}

	#startChoices() {
		$('agent').addEventListener(
		    'change', () => this.change({agent: $('agent').value || undefined}));
		$('chips').addEventListener('click', ({target}) => {
			if (target.undo)
				this.change(target.undo);
		});
		onChoice('sort', 'sort', this.change);
		onChoice('layer', 'layer', this.change);
		onChoice('step', 'step', this.change);
	}

	/* Shows what the address contains, before any answer. */
	showView(view) {
		const filters = address.filtersOf(view).map(({value}) => value);

		document.title = ['easeswitch', ...filters].join(' · ');
		this.lastSpan = view.last ?? this.lastSpan;
		showChoice('presets', 'last', view);
		showChoice('sort', 'sort', view);
		showChoice('layer', 'layer', view);
		showChoice('step', 'step', view);
		$('step').hidden = !address.isHourAtMost(view);
		setAttribute($('live'), 'aria-pressed', address.isLive(view));
		reconcile(
		    $('chips'), address.filtersOf(view), ({name, value}) => name === 'filter' ? `filter ${value}` : name, makeChip,
		    fillChip);
	}

	/* Shows what an answer adds: the range in full, completeness, age. */
	showAnswer(result) {
		this.#answered = {
			from: Date.parse(result.from),
			to: Date.parse(result.to),
			newest: Date.parse(result.newest ?? ''),
			counted: 'counted_to' in result,
		};
		setText($('complete'), format.completeness(result.completeness));
		const poor = format.known(result.completeness) && result.completeness < POOR;

		setAttribute($('complete'), 'data-bad', poor ? 'yes' : undefined);
		setAttribute($('complete'), 'title',
		    `${format.count(result.samples)} of ${format.count(result.expected)} samples that ` +
			'the switches took in this range were received');
		this.tick();
	}

	/* The list of agents; the chosen one stays in it when it has no data in the range. */
	showAgents(result, view) {
		const names = new Set(result.rows.map((row) => row.agent));
		const all = names.size > 1 ? `all ${names.size}` : 'all';

		if (view.agent)
			names.add(view.agent);
		const wrong = new Map(result.rows.filter((row) => row.clock_corrected_s)
		    .map((row) => [row.agent, clockText(row.clock_corrected_s)]));
		const sites = new Map(result.rows.filter((row) => row.site).map((row) => [row.agent, ` · ${row.site}`]));
		const textOf = (name) => name + (sites.get(name) ?? '') + (wrong.get(name) ?? '');
		const options =
		    [{value: '', text: all}, ...[...names].map((name) => ({value: name, text: textOf(name)}))];

		reconcile(
		    $('agent'), options, ({value}) => value, () => make('option'), fillOption);
		$('agent').value = view.agent ?? '';
		setAttribute($('agent'), 'title', wrong.size ? 'What an agent with a wrong clock sends is' +
		    ' stamped by its reception' : undefined);
	}

	/* Updates what depends on the clock, once a second and after each change. */
	tick() {
		const answered = this.#answered;

		if (!answered)
			return;
		const {from, to, newest, counted} = answered, {utc} = preferences;
		const times = counted ? format.countedTimes : format.times;

		setText($('range'), times(from, to, now(), utc));
		const old = format.age((now() - newest) / 1000);

		setText($('age'), old === format.UNKNOWN ? old : `${old} ago`);
		setAttribute($('age'), 'title', `The newest data is from ${format.time(newest, utc)}`);
	}
}
