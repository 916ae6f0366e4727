/*
 * Sources, destinations, conversations, new connections and protocols: five rows each, or a hundred, as easetop
 * prints them. A bar is solid up to the lower 95 % limit, hatched from there to the upper one, and
 * has a mark at the estimate. A key is a button that filters by it.
 */
import * as address from './address.js';
import {save} from './api.js';
import {$, make, onFilter, reconcile, setAttribute, setText} from './dom.js';
import * as format from './format.js';

const FEW = 5, MANY = 100;

const BY = {
	port: 'services',
	proto: 'IP protocols',
	ethertype: 'ethertypes',
	vlan: 'VLANs',
	vni: 'VNIs of VXLAN and GENEVE'
};

const GROUPS = {
	'': 'addresses',
	network: 'networks',
	as: 'AS numbers',
	country: 'countries'
};

/* An address with its port, if there is one, and its name. */
function end(address, name, port) {
	const bare = port === null || port === undefined;
	const host = !bare && address.includes(':') ? `[${address}]` : address;

	return host + (bare ? '' : `:${port}`) + (name ? ` ${name}` : '');
}

function protocolText(row) {
	const name = row.name ? ` ${row.name}` : '';

	if (row.icmp_type !== null && row.icmp_type !== undefined)
		return `${format.protocol(row.protocol)}${name}`;
	if ('server_port' in row)
		return `${format.protocol(row.protocol)}/${row.server_port}${name}`;
	if ('vlan' in row)
		return `VLAN ${row.vlan}${name}`;
	if ('vni' in row)
		return `VNI ${row.vni}`;
	if ('ethertype' in row)
		return row.ethertype === null ? row.name : row.ethertype + name;
	return row.name ?? format.protocol(row.protocol);
}

/* Frames with an IEEE 802.3 length have no filter. */
function protocolKey(row) {
	const text = protocolText(row);

	if ('vlan' in row)
		return {text, filter: {vlan: String(row.vlan)}};
	if ('vni' in row)
		return {text, filter: {also: `vni ${row.vni}`}};
	if ('ethertype' in row)
		return {text, filter: row.ethertype === null ? undefined : {proto: row.ethertype}};
	if (row.icmp_type !== null && row.icmp_type !== undefined)
		return {text, filter: {also: address.icmp(row)}};
	if ('server_port' in row)
		return {text, filter: {also: address.service(row.protocol, row.server_port)}};
	return {text, filter: {proto: String(row.protocol)}};
}

/* What is of an address, as either end, and of a service. */
const served = (host, protocol, port) => `host ${host} and ${address.service(protocol, port)}`;

/* An end of a conversation is filtered by address and port. Protocols without ports have port 0. */
function conversationKey(row, host, name, port) {
	const hasPorts = row.src_port > 0 || row.dst_port > 0;

	const filter = hasPorts ? {also: served(host, row.protocol, port)} : {addr: host};

	return {text: end(host, name, hasPorts ? port : null), only: filter.also ?? end(host, name), filter};
}

const serverFilter = (row) => `dst host ${row.dst} and tcp dst port ${row.dst_port}`;

/* An address, or the group that it stands for. */
function addressKey(side, row, group) {
	return [{text: end(row[side], row[`${side}_name`]), filter: address.onlyOf(side, group, row[side])}];
}

/* keys: the buttons of a row, each with what it filters by (and that as text in `only`). one: what a row is; without it
 * the title without its s. unit: of a list that has one order only. */
const LISTS = [
	{
		id: 'sources',
		title: 'Sources',
		report: 'talkers',
		by: 'src',
		side: '',
		choices: GROUPS,
		keys: (row, group) => addressKey('src', row, group)
	},
	{
		id: 'destinations',
		title: 'Destinations',
		report: 'talkers',
		by: 'dst',
		side: 'dst-',
		choices: GROUPS,
		keys: (row, group) => addressKey('dst', row, group)
	},
	{
		id: 'conversations',
		title: 'Conversations',
		report: 'conversations',
		prefix: (row) => row.name ?? format.protocol(row.protocol),
		keys: (row) =>
		    [conversationKey(row, row.src, row.src_name, row.src_port),
			conversationKey(row, row.dst, row.dst_name, row.dst_port)]
	},
	{
		id: 'connections',
		title: 'New connections',
		one: 'Server',
		report: 'connections',
		unit: 'SYN/s',
		none: 'None: no SYN was sampled in this range.',
		keys: (row) => [{
			text: [end(row.dst, row.dst_name, row.dst_port), row.name].filter(Boolean).join(' '),
			only: serverFilter(row),
			filter: {also: serverFilter(row)}
		}]
	},
	{
		id: 'protocols',
		title: 'Protocols',
		report: 'protocols',
		choices: BY,
		keys: (row) => [protocolKey(row)]
	},
];

/* ---- rows ---- */

function portText(row, manyAgents) {
	const port =
	    row.port ?? (row.ports > 1 ? format.plural(row.ports, 'port') : format.UNKNOWN);

	return manyAgents && row.agent ? `${row.agent} ${port}` : port;
}

const CELLS = ['rank', 'key', 'port', 'rate', 'limits', 'share', 'samples', 'bar'];

function makeRow() {
	const cells = CELLS.map((name) => make('td', {role: 'cell', class: name}));

	cells.at(-1).append(make('span', {class: 'sure'}), make('span', {class: 'maybe'}),
	    make('span', {class: 'mark'}));
	return make('tr', {role: 'row'}, ...cells);
}

function fillFigures(cells, row, context) {
	const {estimate, low, high} =
	    format.perSecond(row[context.sort], context.seconds, context.sort);

	setText(cells[3], format.rate(estimate));
	setText(cells[4], format.limits(low, high, estimate));
	setText(cells[5], format.percent(100 * row.share?.estimate));
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

function fillKeys(cell, list, row, group) {
	const keys = list.keys(row, group).map((key, i) => ({...key, i}));

	reconcile(cell, keys, (key) => key.i, keyButton, (button, key) => {
		setText(button, key.text);
		setAttribute(button, 'title', key.filter && `Only ${key.only ?? key.text}`);
		button.disabled = !key.filter;
		button.filter = key.filter;
	});
	setAttribute(cell, 'data-prefix', list.prefix?.(row));
}

function fillRow(element, row, list, context) {
	const cells = element.children;

	setText(cells[0], format.rank(row.rank));
	fillKeys(cells[1], list, row, context.group);
	setText(cells[2], portText(row, context.manyAgents));
	setAttribute(cells[2], 'title', cells[2].textContent);
	fillFigures(cells, row, context);
	fillBar(cells[7], row[context.sort], context.full);
}

/* The rows below the keys: the others, and traffic without a key. */
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
	if (result.not_seen)
		sums.push({label: 'unseen', row: result.not_seen});
	if (result.rest)
		sums.push({label: result.rest.name ?? 'without a key', row: result.rest});
	if (result.no_sample)
		sums.push({label: format.plural(result.no_sample.ports, 'port') + ', no sample',
			row: result.no_sample});
	if (result.lost)
		sums.push({label: result.lost.name, row: result.lost});
	return sums;
}

function keyText(list, row) {
	return [row.protocol, ...list.keys(row).map((key) => key.text), row.agent].join(' ');
}

/* ---- the note below ---- */

function notesOf(list, result, utc) {
	const none = result.rows.length === 0 ? [list.none ?? 'Nothing seen in this range.'] : [];

	if (none.length > 0 && !result.rest)
		return none[0];
	return [...none, ...format.remarks(result, utc)].join(' ');
}

/* ---- the section ---- */

function makeHead(list, sort) {
	const names = [
		'#', list.one ?? list.title.slice(0, -1), 'Port', list.unit ?? format.unit(sort), '95 % limits', 'Share',
		'Samples'
	];
	const cell = (text, i) =>
	    make('th', {role: 'columnheader', scope: 'col', class: CELLS[i], text});

	return names.map(cell);
}

class List {
	constructor(list, change) {
		this.list = list;
		this.id = list.id;
		this.report = list.report;
		this.section = $(list.id);
		this.note = make('p', {class: 'note'});
		this.head = make('tr', {role: 'row'});
		this.body = make('tbody', {role: 'rowgroup'});
		this.more = make('button', {type: 'button', class: 'more', hidden: 'hidden'});
		this.csv = make('button', {type: 'button', class: 'csv', text: 'CSV', 'aria-label': `${list.title} as CSV`});
		const id = `${list.id}-title`, space = make('span', {class: 'space'});
		const table = {role: 'table', class: 'rows', 'aria-labelledby': id};

		this.section.append(
		    make('div', {class: 'title'}, make('h2', {id, text: list.title}),
			...this.#choices(change), space, this.csv, this.more));
		this.section.append(
		    make('table', table, make('thead', {role: 'rowgroup'}, this.head), this.body));
		this.section.append(this.note);
		onFilter(this.body, change);
		this.csv.addEventListener('click', () => this.#save());
		this.more.addEventListener(
		    'click', () => change({open: this.#isOpen() ? undefined : list.id}));
	}

	#choices(change) {
		if (!this.list.choices)
			return [];
		const choices = Object.entries(this.list.choices);
		const options = choices.map(([value, text]) => make('option', {value, text}));
		const name = this.#isOfGroups() ? 'group' : 'by';

		this.select = make('select', {'aria-label': `${this.list.title} by`}, ...options);
		this.select.hidden = this.#isOfGroups();
		this.select.addEventListener('change', () => change({[name]: this.select.value || undefined}));
		return [this.select];
	}

	#isOfGroups() {
		return this.list.side !== undefined;
	}

	/* Which groups of addresses there are names for. */
	offer(groups, view) {
		if (!this.#isOfGroups())
			return;
		for (const option of this.select.options)
			option.hidden = option.disabled = option.value !== '' && !groups.includes(option.value);
		this.select.hidden = groups.length === 0 && !view.group;
	}

	/* Parameters of the request, beside range and filters. */
	question(view) {
		const {by, choices, side, unit} = this.list;
		const top = view.open === this.id ? MANY : FEW;

		if (unit)
			return {top};
		if (this.#isOfGroups())
			return {sort: view.sort, top, by, ...address.rowsOf(view, side)};
		if (choices)
			return {sort: view.sort, top, by: view.by};
		return {sort: view.sort, top, layer: view.layer};
	}

	show(result, view, {utc}) {
		const sort = this.list.unit ? 'packets' : view.sort, rows = result.rows;
		const context = {
			sort,
			seconds: result.seconds,
			group: view.group,
			full: Math.max(0, ...rows.map((row) => row[sort].high)),
			manyAgents: new Set(rows.map((row) => row.agent)).size > 1,
		};
		const items = [
			...rows.map((row) => ({row, key: keyText(this.list, row)})),
			...sumsOf(result).map((sum, i) => ({sum, key: `\n${i}`}))
		];

		this.view = view;
		this.result = result;
		this.csv.disabled = rows.length === 0;
		if (this.select)
			this.select.value = this.#isOfGroups() ? view.group ?? '' : view.by;
		this.head.replaceChildren(...makeHead(this.list, sort));
		reconcile(this.body, items, ({key}) => key,
		    ({sum}) => (sum ? makeSum() : makeRow()), (element, {row, sum}) => {
			    if (sum)
				    fillSum(element, sum, context);
			    else
				    fillRow(element, row, this.list, context);
		    });
		setText(this.note, notesOf(this.list, result, utc));
		this.more.hidden = !this.#isOpen() && !(result.others?.keys > 0);
		setText(this.more, `Top ${this.#isOpen() ? FEW : MANY}`);
		setAttribute(this.more, 'aria-expanded', this.#isOpen());
		setAttribute(
		    this.more, 'aria-label', `${this.list.title}: ${this.more.textContent}`);
	}

	/* A hundred rows, of the range that is shown. */
	async #save() {
		const {from, to} = this.result, range = {last: undefined, from, to};
		const asked = address.parameters({...this.view, ...range});

		try {
			await save(this.report, {...asked, ...this.question(this.view), top: MANY});
		} catch (error) {
			setText(this.note, `There is no CSV: ${error.message}`);
		}
	}

	#isOpen() {
		return this.view.open === this.list.id;
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
