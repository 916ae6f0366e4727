/*
 * Numbers and times as easetop prints them (common/number_format.c): three digits and a
 * power of 1,000, thousands in groups, "-" for an unknown value, times in local time with their
 * offset or in UTC. Pure functions.
 */

export const UNKNOWN = '-';
const NARROW = '\u202f'; /* a narrow space that does not break */
const UNITS = ['', 'k', 'M', 'G', 'T', 'P'];

export function known(value) {
	return typeof value === 'number' && Number.isFinite(value);
}

/* The power of 1,000 in which a value >= 0 has one to three digits before the point. */
export function scaleOf(value) {
	let power = 0;

	while (power < UNITS.length - 1 && value / 1000 ** power >= 999.5)
		power++;
	return {divisor: 1000 ** power, unit: UNITS[power]};
}

function digits(value) {
	if (value <= 0)
		return '0';
	if (value >= 99.95)
		return value.toFixed(0);
	return value.toFixed(value >= 9.995 ? 1 : 2);
}

function withUnit(text, unit) {
	return unit ? text + NARROW + unit : text;
}

/* 4.32 M; scale: that of another number, where both stand side by side. */
export function rate(value, scale = scaleOf(value)) {
	return known(value) ? withUnit(digits(value / scale.divisor), scale.unit) : UNKNOWN;
}

/* 4.24–4.36 M, in the unit of the estimate. */
export function limits(low, high, estimate) {
	if (!known(low) || !known(high))
		return UNKNOWN;
	const {divisor, unit} = scaleOf(estimate || high);

	return withUnit(`${digits(low / divisor)}–${digits(high / divisor)}`, unit);
}

const DURATIONS = ['ns', 'µs', 'ms', 's'];

/* 12.3 µs, of nanoseconds */
export function duration(ns) {
	let power = 0;

	if (!known(ns))
		return UNKNOWN;
	while (power < DURATIONS.length - 1 && ns / 1000 ** power >= 999.5)
		power++;
	return withUnit(digits(ns / 1000 ** power), DURATIONS[power]);
}

/* 41,812; one decimal below 10; <0.1 for a small value that is not 0. */
export function count(value) {
	if (!known(value))
		return UNKNOWN;
	if (value > 0 && value < 0.05)
		return '<0.1';
	if (value < 9.95 && Math.abs(value - Math.round(value)) >= 0.05)
		return value.toFixed(1);
	return value.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ',');
}

export function percent(value) {
	if (!known(value))
		return UNKNOWN;
	return value > 0 && value < 0.05 ? '<0.1%' : `${value.toFixed(1)}%`;
}

/* Truncated, so that it is never rounded up to 100 %. */
export function completeness(fraction) {
	if (!known(fraction))
		return UNKNOWN;
	return fraction >= 1 ? '100%' : `${(Math.floor(fraction * 1000 + 1e-9) / 10).toFixed(1)}%`;
}

/* The unit of a rate for each value of --sort. */
export function unit(sort) {
	return sort === 'octets' ? 'bit/s' : 'pps';
}

/* Converts a figure of octets or packets in some seconds to a rate; all NaN if it is unknown. */
export function perSecond(figure, seconds, sort) {
	const factor = figure && seconds > 0 ? (sort === 'octets' ? 8 : 1) / seconds : NaN;
	const {estimate, low, high} = figure ?? {};

	return {estimate: estimate * factor, low: low * factor, high: high * factor};
}

/* 4.32 Mb/s */
export function bits(value) {
	const space = scaleOf(value).unit ? '' : NARROW;

	return known(value) ? `${rate(value)}${space}b/s` : UNKNOWN;
}

const PROTOCOLS = {
	1: 'icmp',
	6: 'tcp',
	17: 'udp',
	58: 'icmpv6',
	132: 'sctp'
};

/* The name of an IP protocol number; other text is returned unchanged. */
export function protocol(number) {
	return PROTOCOLS[number] ?? (/^\d+$/.test(number) ? `protocol ${number}` : number);
}

export function speed(bps) {
	if (!known(bps) || bps <= 0)
		return UNKNOWN;
	const scale = scaleOf(bps);

	return `${Number((bps / scale.divisor).toPrecision(4))}${NARROW}${scale.unit}b/s`;
}

export function rank(pair) {
	if (pair && pair[1] === null)
		return `${count(pair[0])}+`;
	return !pair ? '' : pair[0] === pair[1] ? count(pair[0]) : `${count(pair[0])}–${count(pair[1])}`;
}

export function plural(n, one, many = `${one}s`) {
	return `${count(n)} ${n === 1 ? one : many}`;
}

export function age(seconds) {
	if (!known(seconds))
		return UNKNOWN;
	if (seconds < 120)
		return `${Math.max(0, Math.round(seconds))} s`;
	if (seconds < 7200)
		return `${Math.floor(seconds / 60)} min`;
	if (seconds < 172800)
		return `${Math.floor(seconds / 3600)} h`;
	return `${count(Math.floor(seconds / 86400))} days`;
}

/* A span in the largest unit that divides it: 60 s is 1 min. */
export function span(seconds) {
	for (const [size, name] of [[86400, 'd'], [3600, 'h'], [60, 'min']])
		if (seconds >= size && seconds % size === 0)
			return `${seconds / size} ${name}`;
	return `${seconds} s`;
}

/* ---- times: ms since 1970 ---- */

const two = (n) => String(n).padStart(2, '0');

function offsetMinutes(ms, utc) {
	return utc ? 0 : -new Date(ms).getTimezoneOffset();
}

/* A date whose UTC fields are the local time. */
function wall(ms, utc) {
	return new Date(ms + offsetMinutes(ms, utc) * 60000);
}

function day(date) {
	return `${date.getUTCFullYear()}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`;
}

function clock(date) {
	const text = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;

	return date.getUTCSeconds() ? `${text}:${two(date.getUTCSeconds())}` : text;
}

function zone(ms, utc) {
	const offset = offsetMinutes(ms, utc), minutes = Math.abs(offset);

	return (offset < 0 ? '-' : '+') + two(Math.floor(minutes / 60)) + two(minutes % 60);
}

/* 2026-11-21 14:05:07 +0100 */
export function time(ms, utc) {
	const date = wall(ms, utc);

	return known(ms) ? `${day(date)} ${clock(date)} ${zone(ms, utc)}` : UNKNOWN;
}

/* For a text that contains the zone: the time, with the day unless it is today. */
export function shortTime(ms, now, utc) {
	if (!known(ms))
		return UNKNOWN;
	const date = wall(ms, utc);

	return day(date) === day(wall(now, utc)) ? clock(date) : `${day(date)} ${clock(date)}`;
}

/* 14:00–14:05 +0100, with dates unless both ends are today. */
export function times(from, to, now, utc) {
	const first = wall(from, utc), last = wall(to, utc);

	if (day(first) === day(last))
		return `${shortTime(from, now, utc)}–${clock(last)} ${zone(to, utc)}`;
	return `${day(first)} ${clock(first)} – ${day(last)} ${clock(last)} ${zone(to, utc)}`;
}

/* The same of a range that reaches to now: since 14:00, counted to 14:03:41 +0100. */
export function countedTimes(from, to, now, utc) {
	return `since ${shortTime(from, now, utc)}, counted to ${shortTime(to, now, utc)} ${zone(to, utc)}`;
}

/* What the collector remarks on a result, in the words of easetop's text, with times in the page's zone. Hints are about
 * the command and its options. */
export function remarks({notes}, utc) {
	return notes.filter(({severity}) => severity !== 'hint').map(({text}) => text
	    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => time(Date.parse(at), utc))
	    .replace(/[^.]$/, '$&.'));
}

/* For an axis: the time, or the day at midnight. */
export function tick(ms, stepMs, utc) {
	const date = wall(ms, utc);
	const midnight = date.getUTCHours() === 0 && date.getUTCMinutes() === 0;

	return midnight && stepMs >= 3600000 ? day(date).slice(5) : clock(date);
}

/* For <input type="datetime-local">, and back. */
export function toInput(ms, utc) {
	return wall(ms, utc).toISOString().slice(0, 16);
}

export function fromInput(text, utc) {
	return Date.parse(utc ? `${text}Z` : text);
}

/* The times of the API and of the address. */
export function toRfc3339(ms) {
	return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

/* Boundaries for at most `most` ticks between two times, at whole minutes, hours or days of the
 * wall, no nearer than `least` ms. */
export function tickTimes(from, to, most, least, utc) {
	const minute = 60000, steps = [
		1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10080, 20160, 43200, 87600
	].map((n) => n * minute);
	const step = steps.find((s) => s >= least && (to - from) / s <= most) ?? steps.at(-1);
	const shift = offsetMinutes(to, utc) * minute;
	const found = [];

	for (let at = Math.ceil((from + shift) / step) * step - shift; at <= to; at += step)
		found.push(at);
	return {step, times: found};
}
