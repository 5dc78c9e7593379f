// What the plots show, in sentences, for people who do not see them: ranges, frame, windows and the strongest features.

import { angstrom } from '../common/format.js'
import { sentences, t, tn, withCommas, word } from '../common/language.js'
import { continuumOf } from './continuum.js'
import { centresIn } from './ranges.js'

const MOST = 4 // features named
const LEAST_SIGMA = 5
const REACH = 0.006 // of the wavelength: two features are not closer than that
const NAMED = 0.003 // of the wavelength: how far from a feature its line may be

/** The description of the whole spectrum. @param {any} scene @param {number[]} range in the data's wavelengths */
export function describeWhole(scene, range) {
  const windows = scene.windows.map(({ noun, number, title }) => `${word(noun)} ${number}: ${title}`)
  return sentences(
    t('{quantity} against wavelength, {range}, {about}.', {
      quantity: scene.titles.flux.quantity,
      range: shown(scene, range),
      about: about(scene),
    }),
    windows.length > 0 &&
      tn('Window: {windows}.', 'Windows: {windows}.', windows.length, { windows: windows.join('; ') }),
    featuresText(scene, range),
  )
}

/** The description of the lower plot. @param {any} scene @param {number[]} range in the data's wavelengths */
export function describeWindow(scene, range) {
  const selected = scene.windows.find((window) => window.selected)
  return sentences(
    selected
      ? t('Window of {noun} {number}: {title}.', { ...selected, noun: word(selected.noun) })
      : t('Part of the spectrum.'),
    t('Shown: {range}, {about}.', { range: shown(scene, range), about: about(scene) }),
    featuresText(scene, range),
  )
}

const shown = ({ factor }, /** @type {number[]} */ [lo, hi]) =>
  t('{lo} to {hi}', { lo: angstrom(lo * factor, 0), hi: angstrom(hi * factor, 0) })

const about = ({ titles }) => withCommas(titles.wavelength.slice(1))

function featuresText(scene, range) {
  const strong = strongest(scene, range)
  if (!strong.length) return t('No feature stands out.')
  const features = strong.map(({ at, sign, name }) => {
    const text = t('{sign} at {wavelength}', { sign: word(sign), wavelength: angstrom(at * scene.factor, 0) })
    return name ? `${text} (${name})` : text
  })
  return t('Strongest features: {features}.', { features: withCommas(features) })
}

/**
 * The pixels, with their two neighbours, farthest from the pseudo-continuum in units of their error, in order of
 * wavelength; each with the nearest line that is drawn.
 */
function strongest({ spectrum, wavelength, measured: { flux, sigma }, lines }, range) {
  const continuum = continuumOf(spectrum)
  const [from, to] = centresIn(wavelength, range)
  const candidates = []
  for (let i = from + 1; i < to - 1; i += 1) {
    let [sum, variance] = [0, 0]
    for (let k = i - 1; k <= i + 1; k += 1) {
      sum += flux[k] - continuum[k]
      variance += sigma[k] * sigma[k]
    }
    const significance = sum / Math.sqrt(variance)
    if (Math.abs(significance) > LEAST_SIGMA) candidates.push({ at: wavelength[i], significance })
  }
  candidates.sort((a, b) => Math.abs(b.significance) - Math.abs(a.significance))
  const features = []
  for (const { at, significance } of candidates) {
    if (features.length === MOST) break
    if (features.some((other) => Math.abs(other.at - at) < REACH * at)) continue
    const far = (/** @type {any} */ line) => Math.abs(line.at - at)
    const near = lines.filter((line) => far(line) < NAMED * at).toSorted((a, b) => far(a) - far(b))
    features.push({ at, sign: significance > 0 ? 'emission' : 'absorption', name: near[0]?.name ?? '' })
  }
  return features.toSorted((a, b) => a.at - b.at)
}
