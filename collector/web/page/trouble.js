/*
 * What an operator has to know first: the newest source of bad frames and the ports that count them,
 * where samples were lost, which addresses moved, and the newest events.
 */
import {$, make, reconcile, setAttribute, setText} from './dom.js';
import * as format from './format.js';

const LINES = 5;
export const ADDRESSES = 200; /* the newest of them; moved ones are among these */

const newestFirst = (field) => (a, b) => Date.parse(b[field]) - Date.parse(a[field]);

function place(row) {
	return `${row.agent} ${row.port ?? row.if_index ?? ''}`.trim();
}

/* Each gives {sum, lines: [{what, where, when, filter}], n}: sum is empty where nothing is bad, n how
 * many lines there would be, if that is more. */
function errorsOf(result) {
	const sources = [...result.sources ?? []].sort(newestFirst('last'));
	const ports = result.rows.filter((row) => row.rx_errors > 0 || row.tx_errors > 0)
		.sort((a, b) => b.rx_errors + b.tx_errors - a.rx_errors - a.tx_errors);
	const bad = ports.reduce((sum, row) => sum + row.rx_errors + row.tx_errors, 0);
	const lines = sources.map((row) => ({what: `${row.source} ${row.kind}, ${format.plural(row.frames, 'frame')}`,
		where: place(row), when: row.last, filter: {agent: row.agent, port: row.port}}));

	for (const row of ports)
		lines.push({what: `${format.count(row.rx_errors)} received, ${format.count(row.tx_errors)} sent`,
			where: place(row), filter: {agent: row.agent, port: row.port}});
	return {sum: bad || sources.length ? format.plural(bad, 'bad frame') : '', lines};
}

function lossOf(result) {
	const lost = result.rows.reduce((sum, row) => sum + row.lost, 0);
	const lines = (result.places ?? []).filter((row) => row.count > 0).map((row) =>
		({what: `${format.count(row.count)} ${row.of}`, where: row.place}));
	const ports = result.rows.filter((row) => row.lost > 0).sort((a, b) => b.lost - a.lost);

	for (const row of ports)
		lines.push({what: `${format.count(row.lost)} of ${format.count(row.expected)} samples`, where: place(row),
			filter: {agent: row.agent, port: row.port}});
	return {sum: lost ? `${format.plural(lost, 'sample')} lost` : '', lines};
}

function movedOf(result) {
	const moved = result.rows.filter((row) => row.moves > 0).sort(newestFirst('since'));
	const lines = moved.map((row) => ({
		what: row.name ? `${row.address} ${row.name}` : row.address,
		where: `${row.moved_from_agent && row.moved_from_agent !== row.agent ? `${row.moved_from_agent} ` : ''}${row.moved_from_port ?? '?'} → ${place(row)}`,
		when: row.since, filter: {addr: row.address}}));

	return {sum: moved.length ? format.plural(moved.length, 'address', 'addresses') : '', lines};
}

function eventsOf(result) {
	const lines = result.rows.map((row) => ({
		what: [row.event, row.address, row.count > 1 ? format.count(row.count) : '', row.text].filter(Boolean).join(' '),
		where: place(row), when: row.time,
		filter: row.port ? {agent: row.agent, port: row.port} : {agent: row.agent}}));

	const n = lines.length + (result.left_out ?? 0);

	return {sum: n ? format.plural(n, 'event') : '', lines, n};
}

const PARTS = [
	{id: 'errors', title: 'Errors', of: errorsOf, none: 'No bad frames.'},
	{id: 'loss', title: 'Lost samples', of: lossOf, none: 'None lost.'},
	{id: 'addresses', title: 'Moved addresses', of: movedOf, none: 'None moved.'},
	{id: 'events', title: 'Events', of: eventsOf, none: 'None.'},
];

function makeLine() {
	return make('li', {}, make('button', {type: 'button', class: 'filter'}), make('span', {class: 'where'}),
	    make('time'));
}

function fillLine(element, line, {now, utc}) {
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
		$('trouble-parts').append(make('div', {class: 'part', id: `trouble-${part.id}`},
		    make('h3', {}, `${part.title} `, this.sum), this.list, this.none));
		this.list.addEventListener('click', (event) => {
			const button = event.target.closest('.filter');

			if (button?.filter)
				change(button.filter);
		});
	}

	show(result, view, context) {
		const {sum, lines, n = lines.length} = this.part.of(result);

		setText(this.sum, sum);
		setAttribute(this.sum.parentElement.parentElement, 'data-bad', sum ? 'yes' : undefined);
		reconcile(this.list, lines.slice(0, LINES).map((line, i) => ({line, i})), ({i}) => i, makeLine,
		    (element, {line}) => fillLine(element, line, context));
		setText(this.none, lines.length === 0 ? result.empty ? format.UNKNOWN : this.part.none
		    : n > LINES ? `${format.count(n - LINES)} more.` : '');
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
