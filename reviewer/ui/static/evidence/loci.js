// Plots of one measured quantity against another: the library by class, and this spectrum with its errors.

import { h } from '../common/dom.js'
import { plusMinus } from '../common/format.js'
import { t } from '../common/language.js'
import { onTheme } from '../common/theme.js'
import { quantile } from '../spectrum/math.js'
import { about } from './aids.js'

const HEIGHT = 250
const LONGEST_TITLE = 32 // of an axis, in characters; a longer one has two lines
const BULK = 0.04 // of the points at each end may lie outside the first view

/** Colour, plotly's symbol and the same as a character; the same in every plot. Hot stars are blue, cool ones red. */
const SYMBOLS = {
  O: ['#4c6ef5', 'circle', '●'],
  B: ['#339af0', 'circle', '●'],
  A: ['#22b8cf', 'circle', '●'],
  F: ['#74b816', 'circle', '●'],
  G: ['#c2a500', 'circle', '●'],
  K: ['#f08c00', 'circle', '●'],
  'M dwarf': ['#e8590c', 'triangle-up', '▲'],
  'M giant': ['#e03131', 'diamond', '◆'],
  L: ['#a0703c', 'triangle-down', '▼'],
  carbon: ['#d6336c', 'square', '■'],
  S: ['#ae3ec9', 'cross', '✚'],
  WD: ['#748ffc', 'circle-open', '○'],
  'hot subdwarf': ['#9775fa', 'triangle-up-open', '△'],
  WR: ['#12b886', 'star-diamond', '✦'],
  CV: ['#0ca678', 'x', '✖'],
  galaxy: ['#868e96', 'diamond-open', '◇'],
  QSO: ['#868e96', 'square-open', '□'],
}
const OTHER = ['#868e96', 'hourglass', '⧗']

/** @param {import('./aids.js').Aids} aids */
export async function draw(aids) {
  const { plots } = await aids.loci()
  const { plotly } = aids.view()
  const figures = plots.map((plot) => ({ plot, host: h('div.locus') }))
  const element = h(
    'div.loci',
    plots.length === 0 && h('p.muted', t('There are no such plots for this class.')),
    figures.map(({ plot, host }) => h('figure', h('figcaption', plot.title, here(plot)), host, key(plot))),
    plots.length > 0 && about(t('What is plotted'), ABOUT),
  )
  const paint = () => {
    for (const { plot, host } of figures) {
      const { traces, layout } = figure(plot, host)
      plotly.react(host, traces, layout, { displayModeBar: false, responsive: false, doubleClick: 'autosize' })
    }
  }
  const sizes = new ResizeObserver(paint)
  const stop = onTheme(paint)
  return {
    element,
    placed: () => {
      paint()
      sizes.observe(element)
    },
    leave: () => {
      sizes.disconnect()
      stop()
      for (const { host } of figures) plotly.purge(host)
    },
  }
}

/** Where this spectrum lies, in words, or why it lies nowhere. */
function here({ x, y, this: own, reason }) {
  if (!own) return h('span.look', t('this spectrum: {reason}', { reason }))
  const of = ({ name, unit }, value, error) => `${name} ${plusMinus({ value, error, unit })}`
  return h('span.muted', t('this one: {x}, {y}', { x: of(x, own.x, own.x_error), y: of(y, own.y, own.y_error) }))
}

const MARKERS = { type: 'scatter', mode: 'markers' }

function figure({ x, y, points, this: own }, host) {
  const style = getComputedStyle(host)
  const colour = (/** @type {string} */ name) => style.getPropertyValue(`--so-${name}`).trim()
  const classes = classesOf(points)
  const traces = classes.map((name) => {
    const [paint, symbol] = SYMBOLS[name] ?? OTHER
    const members = points.filter((point) => point.class === name)
    return {
      ...{ ...MARKERS, name: plain(name), x: members.map((point) => point.x), y: members.map((point) => point.y) },
      text: members.map((point) => plain(`${point.name} · ${name}`)),
      hovertemplate: '%{text}<extra></extra>',
      marker: { size: 7, opacity: 0.8, color: paint, symbol },
    }
  })
  const axis = ({ name, unit }, values, value) => ({
    ...{ gridcolor: colour('grid'), zerolinecolor: colour('frame'), linecolor: colour('frame') },
    ...{ tickfont: { size: 11 }, nticks: 6, automargin: true },
    title: { text: inTwoLines(plain(unit ? `${name} (${unit})` : name)), standoff: 6, font: { size: 12 } },
    range: bulk(values, value),
  })
  const values = (which) => points.map((point) => point[which])
  return {
    traces: own ? [...traces, thisOne(own, colour)] : traces,
    layout: {
      ...{ width: host.clientWidth, height: HEIGHT, margin: { l: 46, r: 8, t: 6, b: 40 } },
      ...{ showlegend: false, dragmode: 'zoom', paper_bgcolor: 'transparent', plot_bgcolor: 'transparent' },
      font: { family: colour('font'), size: 12, color: colour('text') },
      hoverlabel: { font: { size: 12 } },
      xaxis: axis(x, values('x'), own?.x),
      yaxis: axis(y, values('y'), own?.y),
    },
  }
}

function thisOne(own, colour) {
  const color = colour('strong')
  const bar = (error) => ({ type: 'data', array: [error], visible: error > 0, color, thickness: 1.5 })
  return {
    ...{ ...MARKERS, name: t('this one'), x: [own.x], y: [own.y] },
    error_x: bar(own.x_error),
    error_y: bar(own.y_error),
    hovertemplate: `${t('this spectrum')}<extra></extra>`,
    marker: { size: 13, symbol: 'star', color: colour('look'), line: { width: 1, color } },
  }
}

/** The classes of the points, hot ones first. @param {any[]} points @returns {string[]} */
function classesOf(points) {
  const known = Object.keys(SYMBOLS)
  const rank = (/** @type {string} */ name) => (known.includes(name) ? known.indexOf(name) : known.length)
  return [...new Set(points.map((point) => point.class))].sort((a, b) => rank(a) - rank(b))
}

/** The symbols of a plot. */
const key = ({ points, this: own }) =>
  h(
    'ul.key',
    { 'aria-label': t('Symbols') },
    own && h('li', h('span.own', { 'aria-hidden': 'true' }, '★'), t('this spectrum')),
    classesOf(points).map((name) => {
      const [paint, , symbol] = SYMBOLS[name] ?? OTHER
      return h('li', h('span', { 'aria-hidden': 'true', style: `color: ${paint}` }, symbol), name)
    }),
  )

/**
 * The range of most points and of this spectrum, so that a few extreme objects do not press the others together; a
 * double click shows all. @param {number[]} values @param {number | undefined} own
 */
function bulk(values, own) {
  const seen = own === undefined ? [] : [own]
  const low = Math.min(...[quantile(values, BULK), ...seen].filter(Number.isFinite))
  const high = Math.max(...[quantile(values, 1 - BULK), ...seen].filter(Number.isFinite))
  const margin = 0.12 * (high - low) || 1
  return [low - margin, high + margin]
}

/** A long title with a line break at the space nearest to its middle. @param {string} text */
function inTwoLines(text) {
  if (text.length <= LONGEST_TITLE) return text
  const spaces = [...text.matchAll(/ /g)].map(({ index }) => index)
  const [at] = spaces.sort((a, b) => Math.abs(a - text.length / 2) - Math.abs(b - text.length / 2))
  return at ? `${text.slice(0, at)}<br>${text.slice(at + 1)}` : text
}

/** Text that plotly does not read as markup. @param {string} text */
const plain = (text) => String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const ABOUT = t(
  'Points: library spectra of known class, measured by the same program as this spectrum (star, with 1σ ' +
    'errors). A spectrum far from every class is none of them, or its redshift is wrong. Drag to zoom; a ' +
    'double click shows all points.',
)
