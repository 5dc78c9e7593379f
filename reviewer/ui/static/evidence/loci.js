// Plots of one measured quantity against another: the library by class, and this spectrum with its errors.

import { h } from '../common/dom.js'
import { significant } from '../common/format.js'
import { onTheme } from '../common/theme.js'

const HEIGHT = 262
const COLOURS = ['exposure-0', 'exposure-1', 'exposure-2', 'exposure-3', 'exposure-4', 'exposure-5']
const SYMBOLS = ['circle', 'square', 'diamond', 'triangle-up', 'cross', 'x', 'triangle-down', 'pentagon', 'star']

/** @param {import('./aids.js').Aids} aids */
export async function draw(aids) {
  const { plots, note } = await aids.loci()
  const { plotly } = aids.view()
  const figures = plots.map((plot) => ({ plot, host: h('div.locus', {}) }))
  const element = h(
    'div.loci',
    {},
    plots.length === 0 && h('p.muted', {}, note || 'There are no such plots for this class.'),
    figures.map(({ plot, host }) => h('figure', {}, h('figcaption', {}, plot.title, here(plot)), host)),
    plots.length > 0 && about(note),
  )
  const paint = () => {
    for (const { plot, host } of figures) {
      const { traces, layout } = figure(plot, host)
      plotly.react(host, traces, layout, { displayModeBar: false, responsive: false })
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
  if (!own) return h('span.look', {}, reason ? `this spectrum: ${reason}` : 'this spectrum: not measured')
  const of = (axis, value, error) =>
    `${axis.name} ${significant(value, 3)} ± ${significant(error, 2)} ${axis.unit ?? ''}`
  return h('span.muted', {}, `this: ${of(x, own.x, own.x_error).trim()}, ${of(y, own.y, own.y_error).trim()}`)
}

function figure({ x, y, points, this: own }, host) {
  const style = getComputedStyle(host)
  const colour = (/** @type {string} */ name) => style.getPropertyValue(`--so-${name}`).trim()
  const classes = [...new Set(points.map((point) => point.class))]
  const traces = classes.map((name, at) => {
    const members = points.filter((point) => point.class === name)
    return {
      type: 'scatter',
      mode: 'markers',
      name: plain(name),
      x: members.map((point) => point.x),
      y: members.map((point) => point.y),
      text: members.map((point) => plain(`${point.name} · ${name}`)),
      hovertemplate: '%{text}<extra></extra>',
      marker: {
        size: 7,
        opacity: 0.75,
        color: colour(COLOURS[at % COLOURS.length]),
        symbol: SYMBOLS[at % SYMBOLS.length],
      },
    }
  })
  const title = ({ name, unit }) => ({ text: plain(unit ? `${name} (${unit})` : name), standoff: 6 })
  const axis = {
    gridcolor: colour('grid'),
    zerolinecolor: colour('frame'),
    linecolor: colour('frame'),
    tickfont: { size: 11 },
    nticks: 6,
    automargin: true,
  }
  return {
    traces: own ? [...traces, thisOne(own, colour)] : traces,
    layout: {
      width: host.clientWidth,
      height: HEIGHT,
      margin: { l: 46, r: 8, t: 6, b: 40 },
      paper_bgcolor: 'transparent',
      plot_bgcolor: 'transparent',
      font: { family: colour('font'), size: 12, color: colour('text') },
      hoverlabel: { font: { size: 12 } },
      legend: { orientation: 'h', x: 0, y: -0.24, yanchor: 'top', font: { size: 11 } },
      dragmode: 'zoom',
      xaxis: { ...axis, title: title(x) },
      yaxis: { ...axis, title: title(y) },
    },
  }
}

function thisOne(own, colour) {
  const bar = (/** @type {number | null} */ error) => ({
    type: 'data',
    array: [error ?? 0],
    visible: Boolean(error),
    color: colour('strong'),
    thickness: 1.5,
  })
  return {
    type: 'scatter',
    mode: 'markers',
    name: 'this spectrum',
    x: [own.x],
    y: [own.y],
    error_x: bar(own.x_error),
    error_y: bar(own.y_error),
    hovertemplate: 'this spectrum<extra></extra>',
    marker: { size: 13, symbol: 'star', color: colour('look'), line: { width: 1, color: colour('strong') } },
  }
}

/** Text that plotly does not read as markup. @param {string} text */
const plain = (text) => String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** @param {string} [note] */
const about = (note) =>
  h(
    'details.about',
    {},
    h('summary', {}, 'What is plotted'),
    h(
      'p',
      {},
      'Points: library spectra of known class, measured by the same program as this spectrum (star, with 1σ errors). ' +
        'A spectrum far from every class is none of them, or its redshift is wrong.',
    ),
    note && h('p', {}, note),
  )
