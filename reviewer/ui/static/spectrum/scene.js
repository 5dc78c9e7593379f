// Prepare what a panel draws: steps if a data pixel is wide on the screen, one stroke from minimum to maximum per
// screen column if there are more pixels than columns. For drawing only: measurements use the pixels themselves.

import { angstrom, fluxTitle, mediumText, significant, windowText } from '../common/format.js'
import { t, word } from '../common/language.js'
import { axisFrame, bandInData, chosenLines, isWithin, otherFrame, shownFactor, windowInData } from './frames.js'
import { borders, isSeen, measured, nearest, stretches, unbroken } from './math.js'
import { overviewRange } from './ranges.js'
import { EXPOSURE_COLOURS, placedOverlays } from './overlays.js'

/** Below this redshift the other axis would say the same: 90 km/s, 2 Å at Hα. */
const LEAST_Z = 3e-4

/** Minimum width of a data pixel on the screen to be drawn as a step, in screen pixels. */
const STEP_FROM = 2

/**
 * The outline of `flux` and `sigma` between two indices: {line: {x, y}, band: {x, y} | null}. NaN breaks the line at
 * gaps. `columnWidth` is the width of a screen column in Å of the data; `factor` converts the data's wavelengths to
 * shown ones, and `scale` fluxes to shown ones. Without `stepped`, wide pixels are points of a polyline.
 */
export function paths(
  wavelength,
  flux,
  sigma,
  { from, to, columnWidth, factor, scale, withBand = false, stepped = true },
) {
  const pixel = (wavelength[to - 1] - wavelength[from]) / Math.max(1, to - 1 - from)
  /** @type {any} */
  const outline = stepped && pixel >= STEP_FROM * columnWidth ? steps : pixel >= columnWidth ? points : columns
  const line = { x: [], y: [] }
  const band = withBand ? { x: [], y: [] } : null
  const add = (path, x, y) => {
    if (path.x.length) {
      path.x.push(NaN)
      path.y.push(NaN)
    }
    for (const at of x) path.x.push(at * factor)
    for (const value of y) path.y.push(value * scale)
  }
  for (const run of unbroken(wavelength, flux, from, to)) {
    const { x, y, bandX, low, high } = outline(wavelength, flux, sigma, run, columnWidth)
    add(line, x, y)
    if (band) add(band, [...bandX, ...bandX.toReversed()], [...high, ...low.toReversed()])
  }
  return { line, band }
}

/** Each pixel as a flat step between its borders. */
function steps(wavelength, flux, sigma, [from, to]) {
  const pixels = Array.from({ length: to - from }, (_, k) => from + k)
  const twice = (valueOf) => pixels.flatMap((i) => [valueOf(i), valueOf(i)])
  const x = pixels.flatMap((i) => borders(wavelength, i))
  const [low, high] = [twice((i) => flux[i] - sigma[i]), twice((i) => flux[i] + sigma[i])]
  return { x, y: twice((i) => flux[i]), bandX: x, low, high }
}

/** Each pixel as a point of a polyline; a lone pixel keeps its width. */
function points(wavelength, flux, sigma, run) {
  if (run[1] - run[0] === 1) return steps(wavelength, flux, sigma, run)
  const [x, y, error] = [wavelength, flux, sigma].map((array) => Array.from(array.subarray(...run)))
  return { x, y, bandX: x, low: y.map((value, i) => value - error[i]), high: y.map((value, i) => value + error[i]) }
}

/** Minimum and maximum of each screen column, in their order: no spike is lost. */
function columns(wavelength, flux, sigma, run, columnWidth) {
  /** @type {Record<string, number[]>} */
  const drawn = { x: [], y: [], bandX: [], low: [], high: [] }
  for (let i = run[0]; i < run[1];) {
    const end = wavelength[i] + columnWidth
    let [j, least, most] = [i, i, i]
    let [low, high] = [Infinity, -Infinity]
    for (; j < run[1] && wavelength[j] < end; j += 1) {
      if (flux[j] < flux[least]) least = j
      if (flux[j] > flux[most]) most = j
      low = Math.min(low, flux[j] - sigma[j])
      high = Math.max(high, flux[j] + sigma[j])
    }
    for (const k of least === most ? [least] : [Math.min(least, most), Math.max(least, most)]) {
      drawn.x.push(wavelength[k])
      drawn.y.push(flux[k])
    }
    drawn.bandX.push(wavelength[i])
    drawn.low.push(low)
    drawn.high.push(high)
    i = Math.max(j, i + 1)
  }
  return drawn
}

const prepared = new WeakMap()

/**
 * Values that depend on the data only: gaps, flagged ranges, errors, the flux range of most data, the power of ten
 * of the flux axis. Calculated once per spectrum, so that it can be done ahead for a prefetched spectrum.
 */
export function prepare(spectrum) {
  if (!prepared.has(spectrum)) prepared.set(spectrum, calculate(spectrum))
  return prepared.get(spectrum)
}

function calculate({ wavelength, flux, ivar, mask }) {
  const data = measured(flux, ivar)
  const asSpan = ([from, to]) => [borders(wavelength, from)[0], borders(wavelength, to - 1)[1]]
  const [low, high] = overviewRange(data, mask)
  const size = Math.max(Math.abs(low), Math.abs(high))
  const exponent = size >= 1e5 || size < 0.01 ? Math.floor(Math.log10(size)) : 0
  return {
    ...{ ...data, exponent, scale: 10 ** -exponent, bulk: [low, high], unmeasured: unmeasured(flux, ivar) },
    gaps: stretches([0, flux.length], (i) => Number.isNaN(data.flux[i])).map(asSpan),
    masked: stretches([0, flux.length], (i) => mask[i] && !Number.isNaN(data.flux[i])).map(asSpan),
  }
}

/** The flux of pixels without a variance (ivar 0), NaN elsewhere; null where the file has none for them. */
function unmeasured(flux, ivar) {
  const dropped = Float64Array.from(flux, (value, i) => (ivar[i] > 0 || value === 0 ? NaN : value))
  return dropped.some(Number.isFinite) ? dropped : null
}

/**
 * @param {Object} item
 * @param {Object} state
 * @param {Object} made  data: `prepare(item.spectrum)`; drawn: {flux, sigma} as smoothed and normalised; raw: the flux
 *   under a smoothed one, or null; faint: that of pixels without a variance, or null; continuum: what fluxes are
 *   divided by, or null; colours; selected: a step's id or null; dragged: {id, lo, hi} of a window being dragged, or
 *   null; width: the tool, see width.js
 */
export function compose(item, state, { data, drawn, raw, faint, continuum, colours, selected, dragged, width }) {
  const { spectrum } = item
  const frame = axisFrame(item, state)
  const factor = shownFactor(spectrum, state.z, frame)
  return {
    ...{ id: item.id, spectrum, wavelength: spectrum.wavelength, frame, factor, colours, error: state.error },
    ...{ drawn, raw, continuum, measured: data, gaps: data.gaps, masked: data.masked },
    scale: continuum ? 1 : data.scale,
    editable: item.editable !== false,
    smoothed: state.smoothing > 0,
    unmeasured: state.unmeasured ? faint : null,
    overlays: placedOverlays(item.overlays, spectrum, continuum, state.smoothing),
    width: width.drawn(continuum),
    lines: state.lines ? placedLines(item, state, data) : [],
    bands: state.sky ? placedBands(item) : [],
    windows: item.windows.map((window) => ({
      noun: 'step',
      ...placedWindow(dragged?.id === window.id ? { ...window, ...dragged } : window, spectrum),
      selected: window.id === selected,
    })),
    second: item.second.map((window) => placedWindow(window, spectrum)),
    otherAxis: Math.abs(state.z) < LEAST_Z ? null : axisOf(spectrum, state.z, otherFrame(state.frame)),
    titles: {
      wavelength: wavelengthTitle(spectrum, frame),
      flux: continuum ? NORMALISED : fluxTitle(spectrum.fluxUnit, data.exponent),
    },
  }
}

/** The parts of "Wavelength (Å), observed, vacuum, heliocentric": the last where the file states it. */
function wavelengthTitle(spectrum, frame) {
  const corrected = frame === 'observed' && spectrum.frame === 'observed' && spectrum.meta?.velocity_frame
  return [t('Wavelength (Å)'), word(frame), mediumText(spectrum), corrected && word(corrected)].filter(Boolean)
}

const NORMALISED = { quantity: t('F / continuum'), text: t('Flux / pseudo-continuum') }

/** The readout for the pointer at a wavelength of the data; `reach` (Å) around it are lines that it is on. */
export function reading({ lines, spectrum, frame, drawn, scale, smoothed, bands, continuum }, { z }, at, reach) {
  const i = nearest(spectrum.wavelength, at)
  const frames = z === 0 ? [frame] : [frame, otherFrame(frame)]
  const shown = (each) => angstrom(spectrum.wavelength[i] * shownFactor(spectrum, z, each))
  const where = frames.map((each) => `${shown(each)} ${word(each)}`)
  const spoilt = bands.filter(({ span }) => isWithin(at, span)).map(({ name }) => name)
  where.unshift(...lines.filter((line) => Math.abs(line.at - at) <= reach).map(({ name }) => name))
  if (!Number.isFinite(drawn.flux[i])) return [...where, t('no data'), ...spoilt].join(' · ')
  const [flux, sigma] = [drawn.flux[i] * scale, drawn.sigma[i] * scale]
  const values = { flux: significant(flux, 4), sigma: significant(sigma, 2) }
  const [asMeasured, asSmoothed] = continuum
    ? [t('flux / continuum {flux} ± {sigma}', values), t('smoothed flux / continuum {flux} ± {sigma}', values)]
    : [t('flux {flux} ± {sigma}', values), t('smoothed flux {flux} ± {sigma}', values)]
  const about = [smoothed ? asSmoothed : asMeasured, `S/N ${significant(flux / sigma, 3)}`]
  const flags = spectrum.mask[i] ? [t('flagged by the survey'), ...spoilt] : spoilt
  return [...where, ...about, ...flags].join(' · ')
}

/** The tooltip of the mark of a pixel beyond the drawn range. */
export function offScaleText({ spectrum, drawn, scale, factor, frame }, pixel) {
  const [at, flux] = [angstrom(spectrum.wavelength[pixel] * factor), significant(drawn.flux[pixel] * scale, 3)]
  return t('{at} {frame}: flux {flux}, beyond the drawn range', { at, frame: word(frame), flux })
}

/** The colours plotly needs as values, read from the style sheet's variables. */
export function readColours(root) {
  const style = getComputedStyle(root)
  const exposures = Array.from({ length: EXPOSURE_COLOURS }, (_, at) => `exposure-${at}`)
  const data = ['data', 'raw', 'faint', 'error', 'template', 'model', 'measure']
  const names = [...data, ...exposures, 'grid', 'frame', 'text', 'font', 'paper']
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--so-${name}`).trim()]))
}

/** The chosen lines; those that the data show are named in the plot. "few" are these and the lines of the guide. */
const placedLines = (item, { lineList, z }, data) =>
  chosenLines(item, lineList, z)
    .map((line) => ({ ...line, seen: isSeen(item.spectrum.wavelength, data, line.at) }))
    .filter((line) => lineList !== 'few' || line.seen || line.task)

function placedWindow(window, spectrum) {
  const { label, lo, hi, frame } = window
  const title = `${label ? `${label} · ` : ''}${windowText(lo, hi)} ${word(frame)}`
  return { ...window, title, span: windowInData(window, spectrum) }
}

const axisOf = (spectrum, z, frame) => ({ factor: shownFactor(spectrum, z, frame), label: `${word(frame)} (Å)` })

const BAND_KINDS = { 'sky line': 'sky', 'arm join': 'join' }
const NARROW = 50 // Å: a single sky line; a wider sky band (OH) is drawn paler

const placedBands = ({ bands, spectrum, redshift }) =>
  bands
    .map((band) => {
      const kind = BAND_KINDS[band.kind] ?? band.kind
      const shade = kind === 'sky' && band.hi - band.lo > NARROW ? 'sky-region' : kind
      return { ...band, kind: shade, span: bandInData(band, spectrum, redshift) }
    })
    .filter(({ span }) => span !== null)
