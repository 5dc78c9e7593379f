// The plots of the sky pane as figures of plotly: colour-magnitude plane, finder, light curve. Pure functions.

import { number, plusMinus } from '../common/format.js'
import { t, withCommas } from '../common/language.js'
import { axis, bars, inTwoLines, plain, star } from './plots.js'

const PLANE_HEIGHT = 320
const LONGEST_NAME = 12 // of a locus, in characters; a longer one has two lines
const ALLOWED = 3 // mag, the length of the arrow of a limit
const REDDENED = 5 // times E(B−V) = 0.1: an arrow that is long enough to be seen
const SQUARE = 340 // px, the widest finder
const YEARS = 20 // of proper motion that an arrow shows
const LABELLED = 0.03 // of the light in the fibre: the share is written next to the source
const [BRIGHT, FAINT] = [8, 21] // G of the largest and of the smallest symbol
const [LARGE, SMALL] = [22, 4] // px
const SYMBOLS = ['circle', 'square', 'diamond', 'triangle-up', 'cross', 'triangle-down']
export const CURVE_SIGNS = ['●', '■', '◆', '▲', '✚', '▼']
const ARROW = { showarrow: true, arrowhead: 2, arrowwidth: 2, axref: 'x', ayref: 'y', text: '' }

const label = (/** @type {number[]} */ [x, y], text, color, more = {}) => ({
  ...{ x, y, text, showarrow: false, borderpad: 0, font: { size: 11, color } },
  ...more,
})

/** Where the object lies in the plane, in words. @param {PlanePoint} point */
export function positionText({ bp_rp, bp_rp_error, absolute_magnitude, error, limit }) {
  const colour = bp_rp === null ? [] : [`BP−RP ${plusMinus({ value: bp_rp, error: bp_rp_error })}`]
  if (absolute_magnitude !== null) colour.push(`M_G ${plusMinus({ value: absolute_magnitude, error })}`)
  else if (limit !== null) colour.push(t('M_G {limit} or brighter', { limit: number(limit, 1) }))
  return withCommas(colour)
}

/**
 * The colour-magnitude plane: bright is up.
 * @param {{loci: Locus[], point: PlanePoint}} panel @param {(name: string) => string} colour
 */
export function plane({ loci, point }, colour) {
  const { bp_rp: x, bp_rp_error: xError, absolute_magnitude: value, error, limit, reddening } = point
  const y = value ?? limit
  const xs = range([...loci.flatMap(({ bp_rp }) => bp_rp), x], 0.15)
  const tip = value === null && y !== null ? y - ALLOWED : null // the arrow to where an object with a limit can lie
  const ys = range([...loci.flatMap(({ absolute_magnitude }) => absolute_magnitude), y, tip], 0.06)
  const own = { ...star(colour), name: 'object', hovertemplate: `${plain(positionText(point))}<extra></extra>` }
  const isLine = x === null || y === null // only one of the two is known
  const line = { mode: 'lines', line: { color: colour('look'), dash: 'dash', width: 2 } }
  const [error_x, error_y] = [xError, value === null ? 0 : error].map((each) => bars([each], colour('strong')))
  const place = { x: x === null ? xs : isLine ? [x, x] : [x], y: y === null ? ys : isLine ? [y, y] : [y] }
  const object = { ...own, ...place, ...(isLine ? line : { error_x, error_y }) }
  const up = tip === null ? [] : [[x ?? (xs[0] + xs[1]) / 2, y, tip]]
  return {
    traces: [...loci.map((locus) => locusTrace(locus, colour)), ...(x === null && y === null ? [] : [object])],
    layout: {
      height: PLANE_HEIGHT,
      annotations: [
        ...loci.flatMap(({ name, name_at: at }) =>
          at ? [label(at, inTwoLines(plain(name), LONGEST_NAME), colour('text'))] : [],
        ),
        ...up.map(([at, ay, to]) => ({ ...ARROW, x: at, ax: at, ay, y: to, arrowcolor: colour('look') })),
        ...reddened(reddening, xs, ys, colour('wrong')),
      ],
      xaxis: axis(colour, 'BP − RP (mag)', { range: xs, zeroline: false }),
      yaxis: axis(colour, 'M<sub>G</sub> (mag)', { range: ys.toReversed(), zeroline: false }),
    },
  }
}

/** The range of some numbers with a margin. @param {(number | null)[]} values @param {number} share of the range */
function range(values, share) {
  const known = values.filter((value) => value !== null)
  const [low, high] = [Math.min(...known), Math.max(...known)]
  const margin = share * (high - low) || 1
  return [low - margin, high + margin]
}

function locusTrace({ name, kind, bp_rp: x, absolute_magnitude: y, citation }, colour) {
  // Lines of at least 30 characters: the label is no wider than the plot.
  const text = `${plain(name)}<br>${plain(citation).replace(/(.{30,}?) /g, '$1<br>')}`
  const line = { color: colour('quiet'), width: kind === 'line' ? 2.5 : 1 }
  const hovertemplate = `${text}<br>BP−RP %{x:.2f}, M<sub>G</sub> %{y:.1f}<extra></extra>`
  if (kind === 'line') return { type: 'scatter', mode: 'lines', x, y, line, name, hovertemplate }
  const fill = { fill: 'toself', fillcolor: colour('selected'), hoveron: 'fills', hoverinfo: 'text', text }
  return { type: 'scatter', mode: 'lines', x: [...x, x[0]], y: [...y, y[0]], line, name, ...fill }
}

/** What dust does: an arrow in the empty part between giants and M dwarfs, with its size. */
function reddened([redder, fainter], xs, ys, color) {
  const [ax, ay] = [xs[0] + 0.72 * (xs[1] - xs[0]), ys[0] + 0.42 * (ys[1] - ys[0])]
  const [x, y] = [ax + REDDENED * redder, ay + REDDENED * fainter]
  const text = t('dust, E(B−V) = {value}', { value: number(0.1 * REDDENED, 1) })
  return [{ ...ARROW, x, y, ax, ay, arrowcolor: color }, label([x, y], text, color, { yshift: -10 })]
}

/** The diameter of a star's symbol (px) by its magnitude; an unknown one is drawn as the faintest. */
export function symbolSize(/** @type {number | null} */ magnitude) {
  const part = ((magnitude ?? FAINT) - BRIGHT) / (FAINT - BRIGHT)
  return LARGE + Math.min(1, Math.max(0, part)) * (SMALL - LARGE)
}

/** Facts of a source: magnitude, distance from the fibre's middle, motion, share of the light. @param {FieldStar} s */
export const sourceFacts = ({ magnitude, east, north, motion_east: pmEast, motion_north: pmNorth, share, matched }) => [
  ...(matched ? [t('this object')] : []),
  magnitude === null ? t('G unknown') : `G ${number(magnitude, 1)}`,
  `${number(Math.hypot(east, north), 1)}″`,
  `${number(1000 * Math.hypot(pmEast, pmNorth), 0)} mas/yr`,
  t('{percent} % of the light', { percent: number(100 * share, share < 0.1 ? 1 : 0) }),
]

/**
 * The finder: north is up, east to the left.
 * @param {Finder} finder @param {(name: string) => string} colour
 */
export function chart({ stars, fibre, radius }, colour, /** @type {number} */ width) {
  const size = Math.min(width, SQUARE)
  const edge = 1.05 * radius
  const half = (fibre ?? 0) / 2
  const sources = (some, name, marker) => ({
    ...{ type: 'scatter', mode: 'markers', name, hovertemplate: '%{text}<extra></extra>' },
    ...{ x: some.map(({ east }) => east), y: some.map(({ north }) => north) },
    text: some.map((source) => sourceFacts(source).map(plain).join('<br>')),
    marker: { size: some.map(({ magnitude }) => symbolSize(magnitude)), opacity: 1, ...marker },
  })
  const own = stars.filter(({ matched }) => matched)
  const others = stars.filter(({ matched }) => !matched)
  const percent = ({ east, north, share }) => {
    const side = east > 0 ? { xanchor: 'right', xshift: -8 } : { xanchor: 'left', xshift: 8 }
    return label([east, north], `${number(100 * share)} %`, colour('wrong'), side)
  }
  const arrow = ({ east: ax, north: ay, motion_east: x, motion_north: y }) => ({
    ...{ ...ARROW, arrowwidth: 1.5, arrowcolor: colour('strong'), ax, ay, x: ax + YEARS * x, y: ay + YEARS * y },
  })
  // An arrow shorter than its head would point nowhere.
  const isMoving = ({ motion_east: x, motion_north: y }) => YEARS * Math.hypot(x, y) > radius / 25
  const ring = { type: 'circle', line: { color: colour('accent'), width: 2 }, x0: -half, x1: half, y0: -half, y1: half }
  return {
    traces: [
      sources(others, 'field', { color: colour('quiet'), line: { width: 0 } }),
      sources(own, 'matched', star(colour).marker),
    ],
    layout: {
      ...{ width: size, height: size - 6, margin: { l: 46, r: 8, t: 6, b: 42 } },
      shapes: fibre ? [ring] : [],
      annotations: [
        ...stars.filter(isMoving).map(arrow),
        ...others.filter(({ share }) => share >= LABELLED).map(percent),
      ],
      xaxis: axis(colour, t('← east of the fibre (″)'), { range: [edge, -edge], automargin: false }),
      yaxis: axis(colour, t('north (″) →'), { range: [-edge, edge], automargin: false }),
    },
  }
}

/** Phases in [0, 1). @param {number[]} mjd @param {number} period days @param {number} start of a cycle, MJD */
export const phases = (mjd, period, start) =>
  mjd.map((time) => (time - start) / period).map((cycles) => cycles - Math.floor(cycles))

/**
 * The light curve; folded over two cycles where there is a period.
 * @param {Curve[]} curves @param {number | null} period days @param {(name: string) => string} colour
 */
export function brightness(curves, period, colour) {
  const start = Math.min(...curves.flatMap(({ mjd }) => mjd))
  const twice = (values) => (period ? [...values, ...values] : values)
  const traces = curves.map(({ band, mjd, magnitude, error }, at) => {
    const once = period ? phases(mjd, period, start) : mjd
    const color = colour(`exposure-${at % SYMBOLS.length}`)
    return {
      ...{ type: 'scatter', mode: 'markers', name: plain(band), y: twice(magnitude), customdata: twice(mjd) },
      x: period ? [...once, ...once.map((phase) => phase + 1)] : once,
      error_y: { ...bars(twice(error), color), thickness: 1, width: 0 },
      marker: { size: 5, color, symbol: SYMBOLS[at % SYMBOLS.length] },
      hovertemplate: `${plain(band)} %{y:.2f}<br>MJD %{customdata:.4f}<extra></extra>`,
    }
  })
  const x = period ? { range: [0, 2], dtick: 0.5 } : { tickformat: 'd', nticks: 4 }
  const xaxis = axis(colour, period ? t('phase') : 'MJD', { ...x, zeroline: false })
  const yaxis = axis(colour, t('magnitude'), { autorange: 'reversed', zeroline: false })
  return { traces, layout: { xaxis, yaxis } }
}
