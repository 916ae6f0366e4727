/*
 * A tile for each port, coloured by its utilisation (the busier direction), hatched when its agent
 * is silent, grey when it is down, with a red dot for errors. Up to a hundred ports have their name
 * and figure in the tile; more of them form a dense grid, switch by switch like a front panel. The
 * line below describes the port under the pointer or the focus.
 */
import {$, fillTable, make, reconcile, setAttribute, setText} from './dom.js';
import * as format from './format.js';
import {keepRovable, rove} from './roving.js';

const NAMED_MOST = 100, FIND_FROM = 50, PANEL_MOST = 96; /* ports */
const LEVELS = [1, 5, 15, 30, 50, 75];                   /* per cent: the least of levels 1 to 6 */

export function utilization(port) {
	const both = [port.utilization_rx, port.utilization_tx].filter(format.known);

	return both.length ? Math.max(...both) : undefined;
}

function stateOf(port) {
	if (port.status === 'down')
		return 'down';
	if (String(port.check ?? '').startsWith('silent'))
		return 'silent';
	return utilization(port) === undefined ? 'unknown' : 'up';
}

function level(percent) {
	return LEVELS.filter((least) => percent >= least).length;
}

function nameOf(port) {
	return port.port ?? `port ${port.if_index}`;
}

/* As --if takes it: a name that is a number would be taken for an ifIndex. */
function filterValue(port) {
	return !port.port || /^\d+$/.test(port.port) ? String(port.if_index) : port.port;
}

function figure(port) {
	const state = stateOf(port);

	if (state === 'up')
		return format.percent(utilization(port));
	return state === 'unknown' ? format.UNKNOWN : state;
}

/* One line with all that is known of a port. */
function describe(port) {
	const state = stateOf(port), parts = [nameOf(port)];

	if (port.alias)
		parts.push(port.alias);
	parts.push(`speed ${format.speed(port.speed_bps)}`);
	if (state === 'down')
		return [...parts, 'down'].join(' · ');
	if (state === 'silent')
		return [...parts, port.check].join(' · ');
	parts.push(`received ${format.bits(port.rx_bps)} (${format.percent(port.utilization_rx)})`,
	    `sent ${format.bits(port.tx_bps)} (${format.percent(port.utilization_tx)})`,
	    `${format.count(port.frames_per_s)} pps`,
	    `${format.count(port.broadcasts_per_s)} broadcast/s`,
	    `${format.count(port.multicasts_per_s)} multicast/s`,
	    `${format.count(port.errors_per_s)} error/s`);
	if (port.check && port.check !== 'ok')
		parts.push(`check: ${port.check}`);
	return parts.join(' · ');
}

/* "14.5 Mb/s counted"; with limits where counters are far apart around an end; without counters of all ports
 * "about 14.5 Mb/s (12.9 Mb/s .. 16.1 Mb/s), 3.1 Mb/s of it by samples alone". */
function traffic({totals, divided, uncounted, seconds}) {
	const bits = (octets) => format.bits(octets * 8 / seconds), total = bits(totals.octets);
	const limits = totals.octets_limits ? ` (${bits(totals.octets_limits.low)} .. ${bits(totals.octets_limits.high)})` : '';

	if (!uncounted)
		return divided ? `about ${total} counted${limits}` : `${total} counted`;
	return `about ${total}${limits}, ${bits(uncounted.octets)} of it by samples alone`;
}

function summary(result) {
	const {rows, seconds} = result, parts = [format.plural(rows.length, 'port')];
	const n = (state) => rows.filter((row) => stateOf(row) === state).length;

	for (const state of ['down', 'silent'])
		if (n(state))
			parts.push(`${n(state)} ${state}`);
	if (seconds > 0)
		parts.push(traffic(result),
		    `${format.count(result.totals.packets / seconds)} pps`);
	return parts.join(' · ');
}

function samePort(port, other) {
	return port.agent === other?.agent && port.if_index === other?.if_index;
}

/* ---- the tiles ---- */

function makeTile() {
	return make('button', {type: 'button', class: 'tile', tabindex: '-1'},
	    make('span', {class: 'name'}), make('span', {class: 'figure'}));
}

const UTILISATION = 'Utilisation of the busier direction, received or sent';

function fillTile(tile, port, view) {
	const state = stateOf(port), percent = utilization(port);

	setText(tile.children[0], nameOf(port));
	setText(tile.children[1], figure(port));
	setAttribute(tile, 'data-state', state);
	setAttribute(tile, 'data-level', state === 'up' ? level(percent) : undefined);
	setAttribute(tile, 'data-errors', port.errors_per_s > 0 ? 'yes' : undefined);
	setAttribute(tile, 'aria-label', `${port.agent} ${describe(port)}`);
	setAttribute(tile, 'title', state === 'up' ? UTILISATION : undefined);
	setAttribute(
	    tile, 'aria-pressed', [filterValue(port), port.port].includes(view.port ?? NaN));
	tile.port = port;
}

function byAgent(rows) {
	const groups = new Map();

	for (const row of rows) {
		if (!groups.has(row.agent))
			groups.set(row.agent, {agent: row.agent, ports: []});
		groups.get(row.agent).ports.push(row);
	}
	return [...groups.values()];
}

function makeGroup() {
	return make('div', {class: 'agent-ports'}, make('h3'), make('div', {class: 'tile-row'}));
}

function fillGroup(element, group, view) {
	element.classList.toggle('wide', group.ports.length > PANEL_MOST);
	const sites = new Set(group.ports.map((port) => port.site).filter(Boolean));

	setText(element.children[0], [...sites, group.agent].join(' · '));
	reconcile(element.children[1], group.ports, (port) => port.if_index, makeTile,
	    (tile, port) => fillTile(tile, port, view));
}

/* ---- the same as a table ---- */

const COLUMNS = [
	['Agent', (p) => p.agent],
	['Port', nameOf],
	['Alias', (p) => p.alias ?? ''],
	['Speed', (p) => format.speed(p.speed_bps)],
	['Util. rx', (p) => format.percent(p.utilization_rx)],
	['tx', (p) => format.percent(p.utilization_tx)],
	['bit/s rx', (p) => format.rate(p.rx_bps)],
	['tx', (p) => format.rate(p.tx_bps)],
	['pps', (p) => format.count(p.frames_per_s)],
	['bcast/s', (p) => format.count(p.broadcasts_per_s)],
	['mcast/s', (p) => format.count(p.multicasts_per_s)],
	['err/s', (p) => format.count(p.errors_per_s)],
	['Rate', (p) => (p.skip_in_force ? '1 in ' : '') + format.count(p.skip_in_force) + (p.skips ? ` (${p.skips})` : '')],
	['Check', (p) => (stateOf(p) === 'down' ? 'down' : p.check || format.UNKNOWN)],
];

function rowOf(port) {
	const key = `${port.agent} ${port.if_index}`;

	return {key, cells: COLUMNS.map(([, text]) => ({text: text(port)}))};
}

/* ---- the section ---- */

function busiest(rows) {
	const up = rows.filter((row) => stateOf(row) === 'up');

	return up.reduce((most, row) => (utilization(row) > utilization(most) ? row : most), up[0]);
}

function keyOfColours() {
	return [
		make('span', {text: 'utilisation 0'}),
		...[0, 1, 2, 3, 4, 5, 6].map(
		    (n) => make('span', {class: 'swatch', 'data-state': 'up', 'data-level': n})),
		make('span', {text: '75 %+'}),
		make('span', {class: 'swatch', 'data-state': 'silent'}),
		make('span', {text: 'silent'}),
		make('span', {class: 'swatch', 'data-state': 'down'}), make('span', {text: 'down'}),
		make('span', {class: 'swatch', 'data-errors': 'yes'}),
		make('span', {text: 'errors'})
	];
}

/* choose({agent, port}): called by a click; port undefined: the filter by this port is removed. */
export class Tiles {
	#rows = [];
	#shown;

	constructor(choose) {
		$('tile-key').append(...keyOfColours());
		rove($('tiles'), '.tile');
		$('tiles').addEventListener('click', (event) => {
			const tile = event.target.closest('.tile');
			const pressed = tile?.getAttribute('aria-pressed') === 'true';
			const port = pressed ? undefined : filterValue(tile?.port ?? {});

			if (tile)
				choose({agent: tile.port.agent, port});
		});
		const read = (event) => this.#read(event.target.closest('.tile')?.port);

		for (const name of ['pointerover', 'focusin'])
			$('tiles').addEventListener(name, read);
		for (const name of ['pointerleave', 'focusout'])
			$('tiles').addEventListener(name, () => this.#read());
		$('find-port').addEventListener('input', () => this.#find());
		$('ports-table').addEventListener('toggle', () => this.#table());
	}

	/* Describes the port under the pointer, else the one filtered by, else the busiest. */
	#read(port) {
		const chosen = port ?? $('tiles').querySelector('.tile[aria-pressed="true"]')?.port;
		const most = busiest(this.#rows);

		this.#shown = port;
		setText($('readout'), most ? `Busiest port: ${describe(most)}` : '');
		if (chosen)
			setText($('readout'), `${chosen.agent} · ${describe(chosen)}`);
	}

	#find() {
		const wanted = $('find-port').value.trim().toLowerCase();

		for (const tile of $('tiles').querySelectorAll('.tile')) {
			const {port, alias, agent, site} = tile.port;

			tile.hidden = !`${port} ${alias} ${agent} ${site ?? ''}`.toLowerCase().includes(wanted);
		}
		keepRovable($('tiles'), '.tile');
	}

	#table() {
		const names = COLUMNS.map(([name]) => name);

		if ($('ports-table').open)
			fillTable($('ports-rows'), names, this.#rows.map(rowOf));
	}

	show(result, view, {utc}) {
		const groups = byAgent(result.rows);

		this.#rows = result.rows;
		setText($('ports-sum'), [summary(result), ...format.remarks(result, utc)].join(' '));
		$('tiles').className = result.rows.length > NAMED_MOST ? 'dense' : '';
		$('tiles').classList.toggle('one', groups.length === 1);
		reconcile($('tiles'), groups, (group) => group.agent, makeGroup,
		    (element, group) => fillGroup(element, group, view));
		$('find-port').hidden = result.rows.length < FIND_FROM;
		this.#find();
		this.#read(result.rows.find((row) => samePort(row, this.#shown)));
		this.#table();
	}

	fail(text) {
		this.#rows = [];
		$('tiles').replaceChildren();
		setText($('ports-sum'), text);
		setText($('readout'), '');
	}
}
