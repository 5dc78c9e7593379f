// What a file states about a spectrum, beyond the header's one line: the survey's identifiers to copy, S/N by band,
// medium and velocity frame; and how the file was read. The list is built when it is opened.

import { h } from '../common/dom.js'
import { mediumText, number, redshift } from '../common/format.js'
import { t, word } from '../common/language.js'
import { copyText } from '../common/panels.js'
import { sheetOf } from '../common/popover.js'

/** The printed name of an identifier. */
const NAMES = {
  'plate-mjd-fiber': t('plate-MJD-fibre'),
  'lmjd-planid-spid-fiberid': 'LMJD-planid-spid-fiberid',
  obsid: 'obsid',
  targetid: 'TARGETID',
  designation: t('LAMOST designation'),
  specobjid: 'SPECOBJID',
  gaia_dr3: 'Gaia DR3',
}
const FIRST = ['plate-mjd-fiber', 'obsid', 'targetid', 'gaia_dr3', 'sdss_id']
const BANDS = 'ugriz'

/** [name, value] of each identifier, the one by which the survey's archive finds the spectrum first. */
export function identifiers({ ids }) {
  // No archive knows the negative obsid of some early LAMOST files.
  const isKnown = (/** @type {[string, any]} */ [key, value]) => FIRST.includes(key) && !String(value).startsWith('-')
  const rank = (/** @type {[string, any]} */ fact) => (isKnown(fact) ? FIRST.indexOf(fact[0]) : FIRST.length)
  return Object.entries(ids ?? {})
    .filter(([, value]) => value)
    .sort((a, b) => rank(a) - rank(b))
    .map(([key, value]) => [NAMES[key] ?? key, String(value)])
}

/** "heliocentric (HELIO_RV in the file, −10.42 km/s applied)", or that the file does not say. */
function velocityFrame({ meta }) {
  const { velocity_frame: frame, velocity_frame_from: from, velocity_correction: applied } = meta ?? {}
  if (!frame) return t('not stated in the file')
  const source = / /.test(from) ? from : t('{keyword} in the file', { keyword: from })
  if (!Number.isFinite(applied)) return `${word(frame)} (${source})`
  return t('{frame} ({source}, {velocity} km/s applied)', { frame: word(frame), source, velocity: number(applied, 2) })
}

const medium = (/** @type {any} */ spectrum) => {
  const { medium_from: source } = spectrum.meta
  return source ? `${mediumText(spectrum)} (${source})` : mediumText(spectrum)
}

/** [name, value] of the S/N in each band that the file has: u to z first. */
function signalToNoise({ snr }) {
  const place = (/** @type {[string, any]} */ [band]) => (BANDS.includes(band) ? BANDS.indexOf(band) : BANDS.length)
  return Object.entries(snr ?? {})
    .sort((a, b) => place(a) - place(b))
    .map(([band, value]) => [BANDS.includes(band) ? `SNR${band.toUpperCase()}` : `S/N ${band}`, number(value, 2)])
}

/**
 * The sheet that a button opens.
 * @param {HTMLButtonElement} button @param {any} spectrum @param {(text: string) => void} toast
 * @param {() => any[]} first further [name, value] that come first; a value that is no fact is left out
 */
export const factsSheet = (button, spectrum, toast, first) =>
  sheetOf(button, 'div.facts-sheet', t('About the spectrum'), () => {
    const rows = [
      ...first().filter(Boolean),
      ...identifiers(spectrum).map(([name, value]) => [name, copyButton(value, name, toast)]),
      ...signalToNoise(spectrum),
      [t('medium'), medium(spectrum)],
      [t('wavelengths'), word(spectrum.frame)],
      [t('velocity frame'), velocityFrame(spectrum)],
      [t('redshift in the file'), Number.isFinite(spectrum.redshift) ? redshift(spectrum.redshift) : t('none')],
    ]
    return [list(rows), howRead(spectrum), copyAll([...rows, ...linesOf(spectrum)], toast)]
  })

/** A button with the first of what was not used of the file, and its sheet; null where all was used. */
export function warningNote(/** @type {any} */ spectrum, /** @type {(text: string) => void} */ toast) {
  const [warning] = spectrum?.warnings ?? []
  if (!warning) return null
  const text = t('{label}: {text}', { label: warning[0], text: warning[1] })
  const note = h('button.guide.warning', { title: text }, text)
  const content = () => [howRead(spectrum), copyAll(linesOf(spectrum), toast)]
  return [note, sheetOf(note, 'div.facts-sheet', t('How this file was read'), content)]
}

/** [label, text] of each, with what was not used, left out or changed last. @param {any} spectrum @returns {any[]} */
const linesOf = (spectrum) => [...(spectrum.read ?? []), ...(spectrum.warnings ?? [])]

const howRead = (/** @type {any} */ spectrum) =>
  linesOf(spectrum).length > 0 && [h('h2', t('How this file was read')), list(linesOf(spectrum))]

const list = (/** @type {any[]} */ rows) => h('dl', ...rows.map(([name, value]) => [h('dt', name), h('dd', value)]))

function copyAll(/** @type {any[]} */ rows, /** @type {(text: string) => void} */ toast) {
  const text = rows.map(([name, value]) => `${name}\t${value.textContent ?? value}`).join('\n')
  return h('button.copy-all', { onClick: () => copyText(text, toast, t('All of it copied.')) }, t('copy all'))
}

export const copyButton = (/** @type {string} */ value, /** @type {string} */ name, toast) =>
  h(
    'button.link.id',
    { title: t('copy {name}', { name }), onClick: () => copyText(value, toast, t('{name} copied.', { name })) },
    value,
  )
