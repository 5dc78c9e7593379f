// Plots of one measured quantity against another: the library by class, and this spectrum with its errors.

import { h } from '../common/dom.js'
import { plusMinus } from '../common/format.js'
import { t } from '../common/language.js'
import { quantile } from '../spectrum/math.js'
import { about } from './aids.js'
import { axis, bars, inTwoLines, plain, star, withPlots } from './plots.js'

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
  const figures = plots.map((plot) => ({ plot, host: h('div.locus'), figure: (colour) => figure(plot, colour) }))
  const element = h(
    'div.loci',
    plots.length === 0 && h('p.muted', t('There are no such plots for this class.')),
    figures.map(({ plot, host }) => h('figure', h('figcaption', plot.title, here(plot)), host, key(plot))),
    plots.length > 0 && about(t('What is plotted'), ABOUT),
  )
  return withPlots(aids, element, figures)
}

/** Where this spectrum lies, in words, or why it lies nowhere. */
function here({ x, y, this: own, reason }) {
  if (!own) return h('span.look', t('this spectrum: {reason}', { reason }))
  const of = ({ name, unit }, value, error) => `${name} ${plusMinus({ value, error, unit })}`
  return h('span.muted', t('this one: {x}, {y}', { x: of(x, own.x, own.x_error), y: of(y, own.y, own.y_error) }))
}

const MARKERS = { type: 'scatter', mode: 'markers' }

function figure({ x, y, points, this: own }, colour) {
  const traces = classesOf(points).map((name) => {
    const [paint, symbol] = SYMBOLS[name] ?? OTHER
    const members = points.filter((point) => point.class === name)
    return {
      ...{ ...MARKERS, name: plain(name), x: members.map((point) => point.x), y: members.map((point) => point.y) },
      text: members.map((point) => plain(`${point.name} · ${name}`)),
      hovertemplate: '%{text}<extra></extra>',
      marker: { size: 7, opacity: 0.8, color: paint, symbol },
    }
  })
  const axisOf = ({ name, unit }, which) => {
    const range = bulk(
      points.map((point) => point[which]),
      own?.[which],
    )
    return axis(colour, inTwoLines(plain(unit ? `${name} (${unit})` : name), LONGEST_TITLE), { range })
  }
  return {
    traces: own ? [...traces, thisOne(own, colour)] : traces,
    layout: { xaxis: axisOf(x, 'x'), yaxis: axisOf(y, 'y') },
  }
}

const thisOne = (own, colour) => ({
  ...{ ...star(colour), name: t('this one'), x: [own.x], y: [own.y] },
  error_x: bars([own.x_error], colour('strong')),
  error_y: bars([own.y_error], colour('strong')),
  hovertemplate: `${t('this spectrum')}<extra></extra>`,
})

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

const ABOUT = t(
  'Points: library spectra of known class, measured by the same program as this spectrum (star, with 1σ ' +
    'errors). A spectrum far from every class is none of them, or its redshift is wrong. Drag to zoom; a ' +
    'double click shows all points.',
)
