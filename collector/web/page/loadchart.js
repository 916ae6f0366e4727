/*
 * Load over time: the ports' counters as a line, the five largest sources as stacked bars, each with
 * whiskers at its 95 % limits, and red marks below steps with missing samples. Chart.js draws bars,
 * lines and axes; a plug-in below draws whiskers and marks. The same figures are in a table. A click
 * on a step, or on its time in the table, makes that step the range.
 */
import {onlyOf, range} from './address.js';
import {$, fillTable, make, onFilter, reconcile, setAttribute, setText} from './dom.js';
import * as format from './format.js';

export const SERIES = 5;
const COMPLETE = 0.99;
const UNIT_MS = 1000;

function colour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function seriesColour(i) {
	return colour(`--series-${i + 1}`);
}

/* ---- the answer as series ---- */

function nameOf(row) {
	return row.src_name ? `${row.src} ${row.src_name}` : row.src;
}

/* Of the k-th key in a step; null if it has no sample there. */
function valueOf(row, k, sort) {
	const entry = row.top?.find(({key}) => key === k);

	return entry && row.seconds > 0 ? format.perSecond(entry[sort], row.seconds, sort) : null;
}

/* {name, filter, values: by step, {estimate, low, high} a second or null}, largest first. */
function seriesOf({top = [], rows}, {sort, group}) {
	return top.slice(0, SERIES).map((key, k) => ({
		name: nameOf(key),
		filter: onlyOf('src', group, key.src),
		values: rows.map((row) => valueOf(row, k, sort))
	}));
}

/* The counted load of each step a second, or null. */
function countedOf(rows, sort) {
	const factor = sort === 'octets' ? 8 : 1;
	const counted = rows.map((row) => row.seconds > 0 && row[sort] !== null
		? row[sort] * factor / row.seconds
		: NaN);

	return counted.map((value) => (format.known(value) ? value : null));
}

/* Where steps begin and end (the first may be cut by the range), how long a whole one is, and which
 * one is not complete yet (its figures still change), or -1. */
function stepsOf(result, now) {
	const starts = result.rows.map((row) => Date.parse(row.time));
	const whole = result.step * UNIT_MS;
	const endOf = (start, i) => starts[i + 1] ?? (Math.floor(start / whole) + 1) * whole;
	const ends = starts.map(endOf);
	const open = ends.at(-1) > now ? ends.length - 1 : -1;

	const from = Date.parse(result.from), to = Date.parse(result.to);

	return {from, to, whole, starts, ends, open};
}

/* ---- drawn over Chart.js's bars ---- */

/* With a border, so that it is visible on every colour. */
function drawWhisker(context, strokes, x, top, bottom) {
	const cap = 3;

	context.beginPath();
	context.moveTo(x, top);
	context.lineTo(x, bottom);
	for (const y of [top, bottom]) {
		context.moveTo(x - cap, y);
		context.lineTo(x + cap, y);
	}
	for (const [style, width] of strokes) {
		context.strokeStyle = style;
		context.lineWidth = width;
		context.stroke();
	}
}

function drawWhiskers(chart) {
	const {ctx, scales, data} = chart, bars = data.datasets.filter((set) => set.type === 'bar');
	const base = chart.ease.rows.map(() => 0);
	const strokes = [[colour('--surface'), 3], [colour('--ink'), 1]];

	ctx.save();
	bars.forEach((set, i) => {
		const meta = chart.getDatasetMeta(data.datasets.indexOf(set));

		set.figures.forEach((figure, step) => {
			if (!figure)
				return;
			const {x, width} = meta.data[step];
			const shift = (i - (bars.length - 1) / 2) * width / (bars.length + 1);
			const top = scales.y.getPixelForValue(base[step] + figure.high);
			const bottom = scales.y.getPixelForValue(base[step] + figure.low);

			drawWhisker(ctx, strokes, x + shift, top, bottom);
			base[step] += figure.estimate;
		});
	});
	ctx.restore();
}

function drawIncomplete(chart) {
	const {ctx, chartArea, scales} = chart, {rows, steps} = chart.ease;

	ctx.save();
	ctx.fillStyle = colour('--bad');
	rows.forEach((row, i) => {
		if (!format.known(row.completeness) || row.completeness >= COMPLETE)
			return;
		const left = scales.x.getPixelForValue(steps.starts[i]);
		const right = scales.x.getPixelForValue(steps.ends[i]);

		ctx.fillRect(left, chartArea.bottom - 3, Math.max(2, right - left - 1), 3);
	});
	ctx.restore();
}

const overlay = {
	id: 'ease',
	afterDatasetsDraw(chart) {
		if (!chart.ease)
			return; /* Chart.js draws once during construction */
		drawWhiskers(chart);
		drawIncomplete(chart);
	},
};

/* ---- the chart ---- */

/* middles: of the steps, ms; open: the step that is not complete yet. */
function barSet(series, i, middles, open) {
	const full = seriesColour(i);

	return {
		type: 'bar',
		label: series.name,
		stack: 'top',
		order: 2,
		figures: series.values,
		data: middles.map((x, step) => ({x, y: series.values[step]?.estimate ?? null})),
		backgroundColor: middles.map((x, step) => (step === open ? `${full}90` : full)),
		barPercentage: 1,
		categoryPercentage: 0.9,
		maxBarThickness: 56,
	};
}

function lineSet(counted, middles, open) {
	const dash = ({p1DataIndex}) => (p1DataIndex === open ? [3, 3] : undefined);

	return {
		type: 'line',
		label: 'counted',
		stack: 'counted',
		order: 1,
		data: middles.map((x, step) => ({x, y: counted[step]})),
		borderColor: colour('--ink'),
		backgroundColor: colour('--ink'),
		segment: {borderDash: dash},
		borderWidth: 1.5,
		pointRadius: middles.length < 13 ? 2.5 : 0,
		pointHitRadius: 8,
		tension: 0,
	};
}

function axis(extra) {
	return {
		grid: {
			color: colour('--line'),
			borderColor: colour('--line'),
			tickLength: 4,
			offset: false
		},
		...extra,
		ticks: {color: colour('--muted'), maxRotation: 0, font: {size: 11}, ...extra.ticks},
	};
}

function scalesOf({steps, counted}, utc, width) {
	const end = Math.max(steps.to, steps.ends.at(-1) ?? 0);
	const ticks = format.tickTimes(steps.from, end, Math.max(2, Math.floor(width / 90)),
	    Math.min(steps.whole, 86400 * UNIT_MS), utc);

	return {
		x: axis({
			type: 'linear',
			min: Math.min(steps.from, steps.starts[0] ?? steps.from),
			max: end,
			offset: false,
			stacked: true,
			afterBuildTicks: (scale) => {
				scale.ticks = ticks.times.map((value) => ({value}));
			},
			ticks: {
				callback: (value) => format.tick(value, ticks.step, utc),
				autoSkip: false
			}
		}),
		y: axis({
			display: counted.some((value) => value !== null),
			beginAtZero: true,
			stacked: true,
			grace: '5%',
			ticks: {callback: (value) => format.rate(value), maxTicksLimit: 6}
		}),
	};
}

function tooltipOf(chart) {
	const step = (items) => items[0]?.dataIndex ?? 0;

	return {
		mode: 'index',
		intersect: false,
		position: 'nearest',
		itemSort: (a, b) => b.datasetIndex - a.datasetIndex,
		filter: (item) => item.raw.y !== null,
		callbacks: {
			title: (items) => {
				const {steps, context} = chart.ease, i = step(items);

				return format.times(
				    steps.starts[i], steps.ends[i], context.now, context.utc);
			},
			label: ({dataset, dataIndex, raw}) => {
				const figure = dataset.figures?.[dataIndex];
				const text = figure ? cellText(figure) : format.rate(raw.y);

				return ` ${dataset.label}  ${text}`;
			},
		},
	};
}

/* ---- the key, and the table ---- */

function keyItem() {
	return make('li', {}, make('span', {class: 'swatch'}),
	    make('button', {type: 'button', class: 'filter'}));
}

function fillKeyItem(element, {name, filter, i}) {
	setAttribute(element.children[0], 'data-series', i === undefined ? 'counted' : i + 1);
	setText(element.children[1], name);
	element.children[1].disabled = !filter;
	element.children[1].filter = filter;
}

function cellText(figure) {
	if (!figure)
		return format.UNKNOWN;
	const {estimate, low, high} = figure;

	return `${format.rate(estimate)} (${format.limits(low, high, estimate)})`;
}

/* A step as the range of a view. */
function rangeOf(steps, i) {
	return range(steps.starts[i], steps.ends[i]);
}

function showTable({series, counted, steps, rows}, {utc}) {
	const names = ['Time', 'Complete', 'Counted', ...series.map(({name}) => name)];
	const cellsOf = (row, i) => [
		{text: format.time(steps.starts[i], utc), filter: rangeOf(steps, i)},
		{text: format.completeness(row.completeness)},
		{text: format.rate(counted[i])},
		...series.map(({values}) => ({text: cellText(values[i])})),
	];

	fillTable($('load-rows'), names,
	    rows.map((row, i) => ({key: row.time, cells: cellsOf(row, i)})));
}

function noteOf(result, {counted, steps}, {utc}) {
	const notes = [
		`Each step is ${format.span(result.step)}. Whiskers show 95 % limits.`,
		'The space between bars and line is all other traffic.'
	];

	if (!counted.some((value) => value !== null))
		return 'No counters in this range.';
	if (steps.open >= 0)
		notes.push('The pale step is not complete yet.');
	return [...notes, ...format.remarks(result, utc)].join(' ');
}

export class LoadChart {
	#drawn; /* the last answer: drawn again when colours, zone or width change */
	#chart;

	constructor(change) {
		this.change = change;
		onFilter($('load-key'), change);
		onFilter($('load-rows'), change);
		$('load-table').addEventListener('toggle', () => this.#table());
	}

	#table() {
		if ($('load-table').open && this.#drawn)
			showTable(this.#drawn.answer, this.#drawn.context);
	}

	#create() {
		return new Chart($('load-chart'), {
			data: {datasets: []},
			plugins: [overlay],
			options: {
				animation: false,
				maintainAspectRatio: false,
				interaction: {mode: 'index', intersect: false},
				plugins: {legend: {display: false}},
				onResize: () =>
				    this.#chart && requestAnimationFrame(() => this.redraw()),
				onClick: (event, [hit]) => this.#lookInto(hit?.index),
			},
		});
	}

	#lookInto(step) {
		if (step !== undefined)
			this.change(rangeOf(this.#drawn.answer.steps, step));
	}

	#draw() {
		const {answer, context} = this.#drawn, {series, counted, steps, rows} = answer;
		const middles = steps.starts.map((start, i) => (start + steps.ends[i]) / 2);
		const {open} = steps, barOf = (one, i) => barSet(one, i, middles, open);

		this.#chart ??= this.#create();
		this.#chart.ease = {rows, steps, context};
		this.#chart.data.datasets =
		    [lineSet(counted, middles, open), ...series.map(barOf)];
		this.#chart.options.scales =
		    scalesOf(answer, context.utc, $('load-chart').clientWidth);
		this.#chart.options.plugins.tooltip = tooltipOf(this.#chart);
		this.#chart.update('none');
	}

	show(result, view, context) {
		const {sort} = view, rows = result.rows, steps = stepsOf(result, context.now);
		const series = seriesOf(result, view), counted = countedOf(rows, sort);
		const unit = format.unit(sort), names = series.map(({name}) => name).join(', ');
		const keys = [{name: `counted ${unit}`}, ...series.map((one, i) => ({...one, i}))];

		this.#drawn = {answer: {series, counted, steps, rows}, context};
		const label = `Load in ${unit}, counted, and of ${names}; figures are in the table`;

		reconcile($('load-key'), keys, ({name}) => name, keyItem, fillKeyItem);
		setAttribute($('load-chart'), 'aria-label', label);
		setText($('load-note'), noteOf(result, this.#drawn.answer, context));
		this.#draw();
		this.#table();
	}

	redraw(context = this.#drawn?.context) {
		if (this.#drawn) {
			this.#drawn.context = context;
			this.#draw();
			this.#table();
		}
	}

	fail(text) {
		this.#drawn = undefined;
		this.#chart?.destroy();
		this.#chart = undefined;
		$('load-key').replaceChildren();
		$('load-rows').replaceChildren();
		setText($('load-note'), text);
	}
}
