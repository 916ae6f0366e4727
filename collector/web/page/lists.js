/*
 * Sources, destinations, conversations and protocols: five rows each, or a hundred, as easetop prints
 * them. A bar is solid up to the lower limit (surely there), hatched from there to the upper one, and
 * has a mark at the estimate. A key is a button that filters by it.
 */
import {$, make, reconcile, setAttribute, setText} from './dom.js';
import * as format from './format.js';

export const FEW = 5, MANY = 100;
const ENOUGH_SAMPLES = 100; /* the largest key is then known to about a fifth */

const BY = {port: 'services', proto: 'IP protocols', ethertype: 'ethertypes', vlan: 'VLANs'};

/* An address with its name, and a port behind it. */
function end(address, name, port) {
	const shown = port === null || port === undefined ? address
	    : address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;

	return name ? `${shown} ${name}` : shown;
}

function protocolName(number) {
	return {1: 'icmp', 6: 'tcp', 17: 'udp', 58: 'icmpv6', 132: 'sctp'}[number] ?? `protocol ${number}`;
}

function protocolText(row) {
	if ('server_port' in row)
		return `${protocolName(row.protocol)}/${row.server_port}${row.name ? ` ${row.name}` : ''}`;
	if ('vlan' in row)
		return `VLAN ${row.vlan}${row.name ? ` ${row.name}` : ''}`;
	if ('ethertype' in row)
		return `${row.ethertype}${row.name ? ` ${row.name}` : ''}`;
	return row.name ?? `${row.protocol}`;
}

function protocolFilter(row) {
	if ('vlan' in row)
		return {vlan: String(row.vlan)};
	return {proto: String(row.ethertype ?? row.protocol)};
}

const one = (text, filter) => [{text, filter}];

/* keys: the buttons of a row, each with what it filters by. */
const LISTS = [
	{id: 'sources', title: 'Sources', report: 'talkers', by: 'src',
	 keys: (row) => one(end(row.src, row.src_name), {addr: row.src})},
	{id: 'destinations', title: 'Destinations', report: 'talkers', by: 'dst',
	 keys: (row) => one(end(row.dst, row.dst_name), {addr: row.dst})},
	{id: 'conversations', title: 'Conversations', report: 'conversations',
	 prefix: (row) => row.name ?? protocolName(row.protocol),
	 keys: (row) => [{text: end(row.src, row.src_name, row.src_port), filter: {addr: row.src}},
		{text: end(row.dst, row.dst_name, row.dst_port), filter: {addr: row.dst}}]},
	{id: 'protocols', title: 'Protocols', report: 'protocols', choices: BY,
	 keys: (row) => one(protocolText(row), protocolFilter(row))},
];

/* What to ask for a list. */
export function question(list, view) {
	const asked = {sort: view.sort, top: view.open === list.id ? MANY : FEW};

	if (list.report !== 'protocols')
		asked.layer = view.layer;
	if (list.by)
		asked.by = list.by;
	if (list.choices)
		asked.by = view.by;
	return asked;
}

/* ---- rows ---- */

function portText(row, manyAgents) {
	const port = row.port ?? (row.ports > 1 ? format.plural(row.ports, 'port') : format.UNKNOWN);

	return manyAgents && row.agent ? `${row.agent} ${port}` : port;
}

const CELLS = ['rank', 'key', 'port', 'rate', 'limits', 'share', 'samples', 'bar'];

function makeRow() {
	const cells = CELLS.map((name) => make('td', {role: 'cell', class: name}));

	cells.at(-1).append(make('span', {class: 'sure'}), make('span', {class: 'maybe'}), make('span', {class: 'mark'}));
	return make('tr', {role: 'row'}, ...cells);
}

function fillFigures(cells, row, context) {
	const figure = row[context.sort], factor = (context.sort === 'octets' ? 8 : 1) / context.seconds;
	const isKnown = figure && context.seconds > 0;

	setText(cells[3], isKnown ? format.rate(figure.estimate * factor) : format.UNKNOWN);
	setText(cells[4], isKnown
	    ? format.limits(figure.low * factor, figure.high * factor, figure.estimate * factor) : format.UNKNOWN);
	setText(cells[5], row.share ? format.percent(100 * row.share.estimate) : format.UNKNOWN);
	setText(cells[6], format.count(row.samples));
}

function fillBar(cell, figure, full) {
	const part = (value) => `${Math.min(100, 100 * value / full).toFixed(2)}%`;

	if (full > 0 && figure) {
		cell.style.setProperty('--low', part(figure.low));
		cell.style.setProperty('--estimate', part(figure.estimate));
		cell.style.setProperty('--high', part(figure.high));
	}
}

function keyButton() {
	return make('button', {type: 'button', class: 'filter'});
}

function fillKeys(cell, list, row) {
	const keys = list.keys(row).map((key, i) => ({...key, i}));

	reconcile(cell, keys, (key) => key.i, keyButton, (button, key) => {
		setText(button, key.text);
		setAttribute(button, 'title', `Only ${key.text}`);
		button.filter = key.filter;
	});
	setAttribute(cell, 'data-prefix', list.prefix?.(row));
}

function fillRow(element, row, list, context) {
	const cells = element.children;

	setText(cells[0], format.rank(row.rank));
	fillKeys(cells[1], list, row);
	setText(cells[2], portText(row, context.manyAgents));
	setAttribute(cells[2], 'title', cells[2].textContent);
	fillFigures(cells, row, context);
	fillBar(cells[7], row[context.sort], context.full);
}

/* The rows of no key: others, and what has none. */
function fillSum(element, sum, context) {
	setText(element.children[1], sum.label);
	fillFigures(element.children, sum.row, context);
}

function makeSum() {
	return make('tr', {role: 'row', class: 'sum'},
	    ...CELLS.slice(0, -1).map((name) => make('td', {role: 'cell', class: name})));
}

function sumsOf(result) {
	const sums = [];

	if (result.others)
		sums.push({label: format.plural(result.others.keys, 'other'), row: result.others});
	if (result.rest)
		sums.push({label: result.rest.name ?? 'without a key', row: result.rest});
	return sums;
}

function keyText(list, row) {
	return list.keys(row).map((key) => key.text).join(' ') + (row.agent ?? '');
}

/* ---- what stands below ---- */

function notesOf(result, view, now, utc) {
	const notes = [], sampled = [...result.rows, result.others ?? {samples: 0}];
	const samples = sampled.reduce((sum, row) => sum + row.samples, 0);

	if (samples > 0 && samples < ENOUGH_SAMPLES && result.mean_skip > 1.5)
		notes.push(`Few samples: try a longer range, or a smaller skip (now ${format.count(Math.round(result.mean_skip))}).`);
	if (result.folded_samples > 0)
		notes.push(`${format.count(result.folded_samples)} samples had no room of their own; upper limits allow for up to ${format.count(result.folded_samples_one_key_high)} of them.`);
	if (result.unseen_packets_high >= 1)
		notes.push(`Any ${result.unseen ?? 'key not seen had'} fewer than ${format.count(Math.floor(result.unseen_packets_high) + 1)} frames (95%).`);
	if (result.samples_kept_since)
		notes.push(`Answered from kept samples, which begin at ${format.time(Date.parse(result.samples_kept_since), utc)}.`);
	return notes.join(' ');
}

/* ---- the section ---- */

function makeHead(list, sort) {
	const names = ['#', list.title.slice(0, -1), 'Port', sort === 'octets' ? 'bit/s' : 'frame/s', '95 % limits',
		'Share', 'Samples'];

	return names.map((text, i) => make('th', {role: 'columnheader', scope: 'col', class: CELLS[i], text}));
}

class List {
	constructor(list, change) {
		this.list = list;
		this.section = $(list.id);
		this.note = make('p', {class: 'note'});
		this.head = make('tr', {role: 'row'});
		this.body = make('tbody', {role: 'rowgroup'});
		this.more = make('button', {type: 'button', class: 'more', hidden: 'hidden'});
		const title = make('div', {class: 'title'},
		    make('h2', {id: `${list.id}-title`, text: list.title}), ...this.#choices(change),
		    make('span', {class: 'space'}), this.more);

		this.section.append(title, make('table', {role: 'table', class: 'rows', 'aria-labelledby': `${list.id}-title`},
		    make('thead', {role: 'rowgroup'}, this.head), this.body), this.note);
		this.body.addEventListener('click', (event) => {
			const button = event.target.closest('.filter');

			if (button)
				change(button.filter);
		});
		this.more.addEventListener('click', () =>
			change({open: this.view.open === list.id ? undefined : list.id}));
	}

	#choices(change) {
		if (!this.list.choices)
			return [];
		this.select = make('select', {'aria-label': 'Protocols by'},
		    ...Object.entries(this.list.choices).map(([value, text]) => make('option', {value, text})));
		this.select.addEventListener('change', () => change({by: this.select.value}));
		return [this.select];
	}

	show(result, view, {now, utc}) {
		const {sort} = view, rows = result.rows;
		const context = {
			sort, seconds: result.seconds, full: Math.max(0, ...rows.map((row) => row[sort].high)),
			manyAgents: new Set(rows.map((row) => row.agent)).size > 1,
		};
		const items = [...rows.map((row) => ({row, key: keyText(this.list, row)})),
			...sumsOf(result).map((sum, i) => ({sum, key: `\n${i}`}))];

		this.view = view;
		if (this.select)
			this.select.value = view.by;
		reconcile(this.head, makeHead(this.list, sort), (cell) => cell.className, (cell) => cell,
		    (cell, wanted) => setText(cell, wanted.textContent));
		reconcile(this.body, items, (item) => item.key, (item) => (item.sum ? makeSum() : makeRow()),
		    (element, item) => (item.sum ? fillSum(element, item.sum, context)
		        : fillRow(element, item.row, this.list, context)));
		setText(this.note, rows.length || result.rest ? notesOf(result, view, now, utc) : 'Nothing seen in this range.');
		this.more.hidden = view.open !== this.list.id && !(result.others?.keys > 0);
		setText(this.more, view.open === this.list.id ? `Top ${FEW}` : `Top ${MANY}`);
		setAttribute(this.more, 'aria-expanded', view.open === this.list.id);
		setAttribute(this.more, 'aria-label', `${this.list.title}: ${this.more.textContent.toLowerCase()}`);
	}

	fail(text) {
		this.body.replaceChildren();
		setText(this.note, text);
	}
}

/* change(changes): of the view. */
export function makeLists(change) {
	return LISTS.map((list) => new List(list, change));
}
