/*
 * What an operator must know first: the newest source of bad frames and the ports that count them, why packets
 * were dropped, which links disagree,
 * where samples were lost, in whose names others spoke, which addresses moved, and the newest events.
 */
import {$, make, onFilter, reconcile, setAttribute, setText} from './dom.js';
import * as format from './format.js';

const LINES = 5;
export const ADDRESSES = 200; /* of the newest addresses; those that moved are among them */
export const EVENTS = 100, SOURCES = 100; /* the newest; of bad frames */
export const LINKS = 200; /* rows, of which those that disagree come first */

const newestFirst = (field) => (a, b) => Date.parse(b[field]) - Date.parse(a[field]);

export function placeOf(row) {
	return `${row.agent ?? 'collector'} ${row.port ?? row.if_index ?? ''}`.trim();
}

/* What is of the collector itself has no agent, and no filter. */
export function portFilter({agent, port}) {
	if (!agent)
		return undefined;
	return port ? {agent, port} : {agent};
}

/* Each gives {sum, lines: [{what, where, when, filter}]}: sum is empty where nothing is bad. */
function errorsOf(result) {
	const sources = [...result.sources ?? []].sort(newestFirst('last'));
	const errors = (row) => (row.rx_errors ?? 0) + (row.tx_errors ?? 0);
	const ports = result.rows.filter(errors).sort((a, b) => errors(b) - errors(a));
	const bad = ports.reduce((sum, row) => sum + errors(row), 0);
	const lines = sources.map((row) => ({
		what: `${row.source} ${row.kind}, ${format.plural(row.frames, 'frame')}`,
		where: placeOf(row),
		when: row.last,
		filter: portFilter(row),
	}));

	for (const row of ports) {
		const what =
		    `${format.count(row.rx_errors)} received, ${format.count(row.tx_errors)} sent`;

		lines.push({what, where: placeOf(row), filter: portFilter(row)});
	}
	return {sum: bad || sources.length ? format.plural(bad, 'bad frame') : '', lines};
}

function lossOf(result) {
	const lost = result.rows.reduce((sum, row) => sum + row.lost, 0);
	const places = (result.places ?? []).filter((row) => row.count > 0);
	const ports = result.rows.filter((row) => row.lost > 0).sort((a, b) => b.lost - a.lost);
	const lines =
	    places.map((row) => ({what: `${format.count(row.count)} ${row.of}`, where: row.place}));

	for (const row of ports) {
		const what = `${format.count(row.lost)} of ${format.count(row.expected)} samples`;

		lines.push({what, where: placeOf(row), filter: portFilter(row)});
	}
	return {sum: lost ? `${format.plural(lost, 'sample')} lost` : '', lines};
}

/* In `where` stands who spoke, because a filter leads to the agent in whose name. */
/* Packets that switches discarded and told of, and what their counters have beyond that. */
function dropsOf(result) {
	const all = (result.ports ?? []).filter((row) => (row.if_index ?? null) === null);
	const total = (column) => all.reduce((n, row) => n + row[column], 0);
	const sum = total('counted') + total('not_counted') - (result.elsewhere?.packets ?? 0);
	const unexplained = total('unexplained');
	const why = (row) => [row.reason ?? 'only counted', row.detail].filter(Boolean).join(', ');
	const lines = result.rows.map(
	    (row) => ({what: `${why(row)}: ${format.plural(row.packets, 'packet')}`, where: ''}));

	if (unexplained > 0)
		lines.push({what: `${format.plural(unexplained, 'packet')} not explained${result.elsewhere
		    ? `, or explained at another port: ${format.plural(result.elsewhere.packets, 'packet')} at most` : ''}`, where: ''});
	return {sum: sum ? format.plural(sum, 'packet') : '', lines};
}

/* How long frames took, by the port where they left; the longest stand first. */
function delayOf(result) {
	const side = (value) => (value === null ? '?' : format.duration(value));
	const quantile = (figure) => (figure
	    ? `${format.duration(figure.estimate)} (${side(figure.low)}–${side(figure.high)})` : format.UNKNOWN);
	const lines = result.rows.map((row) => ({
		what: `median ${quantile(row.median_ns)}, p95 ${quantile(row.p95_ns)}`,
		where: placeOf({agent: row.agent, port: row.out ?? '?'}),
	}));

	return {sum: '', lines};
}

/* What the two ends of links between switches disagree on, at the end where it shows. */
function linksOf(result) {
	const wrong = result.rows.filter((row) => row.disagrees);
	const lines = wrong.map((row) => ({
		what: row.says,
		where: `${placeOf({agent: row.from_agent, port: row.from_port})} → ${placeOf({agent: row.to_agent, port: row.to_port})}`,
		filter: portFilter({agent: row.to_agent, port: row.to_port}),
	}));

	return {sum: wrong.length ? `${format.plural(wrong.length, 'way')} wrong` : '', lines};
}

function refusedOf(result) {
	const refused = result.rows.filter((row) => row.refused > 0).sort(newestFirst('refused_newest'));
	const sum = refused.reduce((all, row) => all + row.refused, 0);
	const lines = refused.map((row) => ({
		what: `${row.agent}, ${format.plural(row.refused, 'record')}`,
		where: `from ${row.refused_source}`,
		when: row.refused_newest,
		filter: {agent: row.agent},
	}));

	return {sum: sum ? format.plural(sum, 'record') : '', lines};
}

function movedOf(result) {
	const moved = result.rows.filter((row) => row.moves > 0).sort(newestFirst('since'));
	const from = (row) =>
	    placeOf({agent: row.moved_from_agent ?? row.agent, port: row.moved_from_port ?? '?'});
	const lines = moved.map((row) => ({
		what: row.name ? `${row.address} ${row.name}` : row.address,
		where: `${from(row)} → ${placeOf(row)}`,
		when: row.since,
		filter: {addr: row.address},
	}));

	return {
		sum: lines.length ? format.plural(lines.length, 'address', 'addresses') : '',
		lines
	};
}

function eventsOf(result) {
	const count = (row) => (row.count > 1 ? format.count(row.count) : '');
	const what =
	    (row) => [row.event, row.address, count(row), row.text].filter(Boolean).join(' ');
	const lines = result.rows.map(
	    (row) =>
		({what: what(row), where: placeOf(row), when: row.time, filter: portFilter(row)}));
	const n = lines.length, sum = n < EVENTS ? format.plural(n, 'event') : `${EVENTS}+ events`;

	return {sum: n ? sum : '', lines};
}

/* Ports whose lists are wider than somebody asked for, the widest first; empty where nobody asks. */
function precisionOf(result) {
	const short = (row) => (row.width_reached ?? Infinity) > row.width_wanted;
	const reached = (row) => (row.width_reached === null || row.width_reached === undefined
	    ? format.UNKNOWN : `${Math.round(row.width_reached)} %`);
	const rows = result.rows.filter(short).sort(
	    (a, b) => (b.width_reached ?? Infinity) / b.width_wanted - (a.width_reached ?? Infinity) / a.width_wanted || 0);
	const lines = rows.map((row) => ({
		what: `${row.goal}: ${reached(row)}, skip ${row.skip_in_force ?? format.UNKNOWN}${row.reason ? `, ${row.reason}` : ''}`,
		where: placeOf(row),
		when: row.decided,
		filter: portFilter(row),
	}));

	return {sum: lines.length ? `${format.plural(lines.length, 'port')} of ${result.rows.length}` : '', lines};
}

const PARTS = [
	{id: 'errors', title: 'Errors', of: errorsOf, none: 'No bad frames.'},
	{id: 'drops', title: 'Dropped packets', of: dropsOf, none: 'No packets dropped.'},
	{id: 'delay', title: 'Delay', of: delayOf, none: 'No switch tells delays.'},
	{id: 'links', title: 'Links', of: linksOf, none: 'Both ends of each known link agree.'},
	{id: 'loss', title: 'Lost samples', of: lossOf, none: 'No samples lost.'},
	{id: 'agents', title: 'Refused in their names', of: refusedOf, none: 'No record was refused.'},
	{id: 'precision', title: 'Wider than asked for', of: precisionOf, none: 'As exact as was asked for, if anybody asked.'},
	{id: 'addresses', title: 'Moved addresses', of: movedOf, none: 'No address moved.'},
	{id: 'events', title: 'Events', of: eventsOf, none: 'No events.'},
];

export function makeLine() {
	return make('li', {}, make('button', {type: 'button', class: 'filter'}),
	    make('span', {class: 'where'}), make('time'));
}

export function fillLine(element, line, {now, utc}) {
	const [what, where, when] = element.children, ms = Date.parse(line.when ?? '');

	setText(what, line.what);
	setText(where, line.where);
	setText(when, Number.isNaN(ms) ? '' : format.shortTime(ms, now, utc));
	setAttribute(when, 'title', Number.isNaN(ms) ? undefined : format.time(ms, utc));
	what.disabled = !line.filter;
	what.filter = line.filter;
}

class Part {
	constructor(part, change) {
		this.part = part;
		this.sum = make('span', {class: 'sum'});
		this.list = make('ul');
		this.none = make('p', {class: 'note'});
		const head = make('h3', {}, `${part.title} `, this.sum);

		this.section = make(
		    'div', {class: 'part', id: `trouble-${part.id}`}, head, this.list, this.none);
		$('trouble-parts').append(this.section);
		onFilter(this.list, change);
	}

	show(result, view, context) {
		const {sum, lines} = this.part.of(result), n = lines.length;

		setText(this.sum, sum);
		setAttribute(this.section, 'data-bad', sum ? 'yes' : undefined);
		const shown = lines.slice(0, LINES).map((line, i) => ({line, i}));

		reconcile(this.list, shown, ({i}) => i, makeLine,
		    (element, {line}) => fillLine(element, line, context));
		setText(this.none, n > LINES ? `${format.count(n - LINES)} more.` : '');
		if (n === 0)
			setText(this.none, result.empty ? format.UNKNOWN : this.part.none);
	}

	fail(text) {
		setText(this.sum, '');
		this.list.replaceChildren();
		setText(this.none, text);
	}
}

/* By the name of the report each shows. */
export function makeTrouble(change) {
	return Object.fromEntries(PARTS.map((part) => [part.id, new Part(part, change)]));
}
