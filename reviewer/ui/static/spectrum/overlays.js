// What is drawn with the data: a library template, the pipeline's model, exposures, other epochs, fluxes of catalogues.
// All are placed on the data's own wavelengths, and divided by the data's pseudo-continuum in the normalised view.

import { fill, h } from '../common/dom.js'
import { number } from '../common/format.js'
import { t } from '../common/language.js'
import { dividedBy } from './continuum.js'
import { inMedium, interpolate, smooth } from './math.js'

/**
 * @typedef {Object} Overlay
 * @property {'template' | 'model' | 'exposure' | 'epoch' | 'sed'} kind
 * @property {string} name
 * @property {ArrayLike<number>} wavelength Å: of a template at rest in `medium`, of others those of the data
 * @property {ArrayLike<number>} flux in the data's flux unit; NaN breaks the curve
 * @property {Medium} [medium] of a template
 * @property {number} [z] of a template: where it was fitted, against the data as they are stored
 * @property {{labels: string[], error: number[]}} [points] of fluxes of catalogues: their names and relative errors
 * @property {string} [note] for the legend
 * @property {string} [title] tooltip of the legend
 */

/** @type {WeakMap<object, {continuum: any, smoothing: number, placed: any}>} */
const known = new WeakMap()

/**
 * The overlays as {kind, name, wavelength, flux, colour}: wavelengths of the data, fluxes as drawn before the scale.
 * Observed curves lie under the data and are smoothed as these are. A placed curve is kept until the continuum or the
 * smoothing changes, so that it is drawn again only then.
 * @param {Overlay[]} overlays @param {Spectrum} spectrum @param {Float64Array | null} continuum
 * @param {number} smoothing σ in pixels
 */
export function placedOverlays(overlays, spectrum, continuum, smoothing) {
  let several = 0
  return overlays.map((overlay) => {
    const beneath = ['exposure', 'epoch'].includes(overlay.kind)
    const colour = beneath ? `exposure-${several++ % EXPOSURE_COLOURS}` : overlay.points ? 'measure' : overlay.kind
    const before = known.get(overlay)
    if (before && before.continuum === continuum && before.smoothing === smoothing) return before.placed
    const { kind, name, points } = overlay
    const placed = { kind, name, points, beneath, colour, ...place(overlay, spectrum, continuum) }
    if (beneath && smoothing)
      placed.flux = smooth(placed.flux, new Float64Array(placed.flux.length).fill(1), smoothing).flux
    known.set(overlay, { continuum, smoothing, placed })
    return placed
  })
}

export const EXPOSURE_COLOURS = 6

function place({ kind, wavelength, flux, medium = 'vacuum', z = 0 }, spectrum, continuum) {
  const observed = (/** @type {number} */ rest) =>
    inMedium(inMedium(rest, medium, 'vacuum') * (1 + z), 'vacuum', spectrum.medium)
  const at = Float64Array.from(wavelength, (each) => (kind === 'template' ? observed(each) : each))
  const values = Float64Array.from(flux, (value) => value ?? NaN)
  if (!continuum) return { wavelength: at, flux: values }
  const levels = at.map((each) => interpolate(spectrum.wavelength, continuum, each))
  return { wavelength: at, flux: dividedBy(values, levels) }
}

/** The names of the kinds in the legend. */
const KINDS = { template: t('template'), model: t('pipeline model'), exposure: '', epoch: '', sed: '' }

/**
 * Name the curves that are drawn, each next to its colour.
 * @param {HTMLElement} legend @param {Overlay[]} overlays @param {any[]} placed by `placedOverlays`
 * @param {Float64Array | null} unmeasured the flux of pixels without a variance, if it is drawn
 */
export function drawLegend(legend, overlays, placed, unmeasured) {
  legend.hidden = overlays.length === 0 && !unmeasured
  const entry = (kind, colour, text, title) =>
    h(`li.so-${kind}`, { title }, h('span.so-swatch', { style: `background: var(--so-${colour})` }), text)
  const n = number(unmeasured?.filter(Number.isFinite).length ?? 0)
  const about = t('They set no range and enter no measurement')
  fill(
    legend,
    unmeasured && entry('unmeasured', 'faint', t('{n} pixels with ivar = 0: not measured', { n }), about),
    placed.map(({ kind, name, colour }, at) => {
      const { note, title } = overlays[at]
      const text = [KINDS[kind], name, note].filter(Boolean).join(' · ')
      return entry(kind, colour, text, title || text)
    }),
  )
}
