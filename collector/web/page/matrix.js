/*
 * Who talks to whom: the largest pairs as a heat map, sources down, destinations across. Addresses
 * are numbered once, as in easetop, so that a column needs only a number. Every address and cell is
 * a button that filters by its address (a cell by its source).
 */
import {$, make, onFilter, reconcile, setAttribute, setText} from './dom.js';
import * as format from './format.js';
import {keepRovable, rove} from './roving.js';

export const PAIRS = 60;
const ADDRESSES = 8, LEVELS = 6;

/* The first ADDRESSES addresses, largest pair first. */
function addressesOf(rows) {
	const places = new Map();

	for (const row of rows)
		for (const [address, name] of [[row.src, row.src_name], [row.dst, row.dst_name]])
			if (!places.has(address) && places.size < ADDRESSES)
				places.set(address, {address, name, number: places.size + 1});
	return [...places.values()];
}

/* The addresses that send to one of the others. */
function senders(addresses, pairs) {
	return addresses.filter(
	    (from) => addresses.some((to) => pairs.has(`${from.address} ${to.address}`)));
}

function receivers(addresses, pairs) {
	return addresses.filter(
	    (to) => addresses.some((from) => pairs.has(`${from.address} ${to.address}`)));
}

/* By the square root, so that a pair with a hundredth of the largest is still visible. */
function levelOf(figure, largest) {
	return Math.max(1, Math.ceil(LEVELS * Math.sqrt(figure.estimate / largest)));
}

function makeCell() {
	return make('td', {role: 'gridcell'});
}

function fillCell(cell, {from, to, row}, context) {
	let button = cell.firstElementChild;

	if (!row) {
		cell.replaceChildren();
		return;
	}
	if (!button) {
		button = make('button', {type: 'button', class: 'cell', tabindex: '-1'});
		cell.append(button);
	}
	const {estimate, low, high} =
	    format.perSecond(row[context.sort], context.seconds, context.sort);
	const rate = format.rate(estimate), limits = format.limits(low, high, estimate);
	const share = format.percent(100 * row.share.estimate);
	const samples = format.plural(row.samples, 'sample');
	const pair = `${from.address} → ${to.address}`;
	const only = `a click shows only ${from.address}`;
	const title = `${pair}: ${rate} (${limits}), ${share}, ${samples}; ${only}`;

	setText(button, rate);
	setAttribute(button, 'data-level', levelOf(row[context.sort], context.largest));
	setAttribute(button, 'title', title);
	setAttribute(button, 'aria-label', title);
	button.filter = {addr: from.address};
}

function makeLine() {
	const head = make('th', {role: 'rowheader', scope: 'row'});

	head.append(
	    make('span', {class: 'number'}), make('button', {type: 'button', class: 'filter'}));
	return make('tr', {role: 'row'}, head);
}

function fillLine(element, from, addresses, pairs, context) {
	const [number, button] = element.firstElementChild.children;
	const cells =
	    addresses.map((to) => ({from, to, row: pairs.get(`${from.address} ${to.address}`)}));

	setText(number, `${from.number}`);
	setText(button, from.name ? `${from.address} ${from.name}` : from.address);
	setAttribute(button, 'title', `Only ${button.textContent}`);
	button.filter = {addr: from.address};
	while (element.children.length > cells.length + 1)
		element.lastElementChild.remove();
	cells.forEach((cell, i) => {
		if (!element.children[i + 1])
			element.append(makeCell());
		fillCell(element.children[i + 1], cell, context);
	});
}

function headOf(addresses) {
	const corner = make('th', {role: 'columnheader', class: 'corner', text: 'from \\ to'});
	const head = addresses.map(({number, address}) => {
		const label = {title: address, 'aria-label': `to ${address}`, text: `${number}`};

		return make('th', {role: 'columnheader', scope: 'col', ...label});
	});

	return addresses.length === 0 ? [] : [corner, ...head];
}

export class Matrix {
	constructor(change) {
		this.head = make('tr', {role: 'row'});
		this.body = make('tbody', {role: 'rowgroup'});
		const grid = {role: 'grid', class: 'heat', 'aria-labelledby': 'matrix-title'};

		$('matrix-grid')
		    .append(make(
			'table', grid, make('thead', {role: 'rowgroup'}, this.head), this.body));
		rove(this.body, '.cell');
		onFilter(this.body, change);
	}

	show(result, view) {
		const {sort} = view, rows = result.rows, addresses = addressesOf(rows);
		const pairs = new Map(rows.map((row) => [`${row.src} ${row.dst}`, row]));
		const largest = Math.max(0, ...rows.map((row) => row[sort].estimate));
		const context = {sort, seconds: result.seconds, largest};
		const placed = new Set(addresses.map(({address}) => address));
		const left =
		    rows.filter(({src, dst}) => !placed.has(src) || !placed.has(dst)).length;
		const across = receivers(addresses, pairs);
		const more = left + (result.others?.keys ?? 0);

		this.head.replaceChildren(...headOf(across));
		reconcile(this.body, senders(addresses, pairs), (from) => from.address, makeLine,
		    (element, from) => fillLine(element, from, across, pairs, context));
		keepRovable(this.body, '.cell');
		setText($('matrix-unit'),
		    rows.length ? `${format.unit(sort)} from a row's address to a column's` : '');
		setText($('matrix-note'), more ? `${format.plural(more, 'more pair')} not shown.` : '');
		if (rows.length === 0)
			setText($('matrix-note'), 'Nothing seen in this range.');
	}

	fail(text) {
		this.head.replaceChildren();
		this.body.replaceChildren();
		setText($('matrix-note'), text);
	}
}
