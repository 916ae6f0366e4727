/*
 * What tests/collector/web/check_page.py asks of the page, put into each document before its own scripts run.
 * Narrow spaces (before units) are left out of texts.
 */
globalThis.probe = {
	plain: (element) => element.textContent.replace(/\u202f/g, ''),
	texts: (selector) => [...document.querySelectorAll(selector)].map(probe.plain),

	/* The document is there, and every question of the page was answered. */
	settled: () =>
		document.readyState === 'complete' && !document.body.hasAttribute('data-busy'),

	/* Of a list: the figures of each row. */
	rows: (section) => [...document.querySelectorAll(`#${section} tbody tr`)].map((row) =>
		['rate', 'limits', 'share', 'samples'].map((name) =>
			probe.plain(row.querySelector(`.${name}`)))),

	/* Of a table that stands for a picture. */
	table: (id) => [...document.querySelectorAll(`#${id} tbody tr`)].map((row) =>
		[...row.children].map(probe.plain)),

	tile: (name) => [...document.querySelectorAll('.tile')].find((tile) =>
		tile.querySelector('.name').textContent === name),

	tileStates: () => Object.fromEntries(['up', 'down', 'silent'].map((state) =>
		[state, document.querySelectorAll(`.tile[data-state=${state}]`).length])),

	/* How many colours the load's chart has. */
	chartColours() {
		const {width, height} = document.getElementById('load-chart');
		const context = document.getElementById('load-chart').getContext('2d');

		return new Set(context.getImageData(0, 0, width, height).data).size;
	},

	/* The first step with data in the load's chart: its number, where it is, when it began. */
	firstStep() {
		const chart = Chart.getChart('load-chart'), {rows, steps} = chart.ease;
		const i = rows.findIndex((row) => row.octets);
		const {left, top} = chart.canvas.getBoundingClientRect();

		return [i, left + chart.getDatasetMeta(0).data[i].x, top + 100, steps.starts[i]];
	},

	/* The focused element, by what says most of it. */
	focused() {
		const {classList, firstElementChild} = document.activeElement;
		const section = document.activeElement.closest('section, header');
		const {outlineStyle, outlineWidth} = getComputedStyle(document.activeElement);

		return {classes: [...classList], first: firstElementChild?.textContent ?? '',
			section: section?.id || section?.tagName || '',
			outlined: outlineStyle === 'solid' && parseFloat(outlineWidth) >= 2};
	},

	/* Elements that reach beyond the right edge, those aside that scroll by themselves. */
	beyondEdge() {
		const edge = document.documentElement.clientWidth + 1;
		const may = '.scroll, .menu form, .skip';

		return [...document.querySelectorAll('header *, main *')].filter((element) =>
			!element.closest(may) && element.offsetParent &&
			element.getBoundingClientRect().right > edge)
			.map((element) => `${element.tagName}.${element.className}`).slice(0, 5);
	},

	/* Texts of less contrast than 4.5 (WCAG 2.1, success criterion 1.4.3). */
	poorContrast() {
		const numbers = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
		const linear = (c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
		const luminance = ([r, g, b]) => 0.2126 * linear(r / 255) +
			0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
		const ground = (element) => {
			const colour = numbers(getComputedStyle(element).backgroundColor);

			return colour.length === 3 || colour[3] === 1 ? colour
			    : element.parentElement ? ground(element.parentElement) : [255, 255, 255];
		};
		const contrast = (element) => {
			const ink = luminance(numbers(getComputedStyle(element).color));
			const paper = luminance(ground(element));

			return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
		};
		const hasText = (element) => element.offsetParent && !element.disabled &&
			[...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
		const poor = [...document.querySelectorAll('body *')].filter((element) =>
			hasText(element) && contrast(element) < 4.5);

		return [...new Set(poor.map((element) => `${element.tagName}.${element.className} ` +
			`${element.textContent.slice(0, 20)} ${contrast(element).toFixed(1)}`))];
	},
};
