// What header and plot take from the person's own inspection. A redshift tried in the plot is kept in this browser
// until it is saved as part of an inspection.

import { lasting } from '../common/browser_storage.js'
import { h } from '../common/dom.js'
import { redshift } from '../common/format.js'
import { t, word } from '../common/language.js'

/** An inspection in one line, e.g. "z 0.3688000 · quality 4 · issues RC · QSO". @param {Inspection} inspection */
export function inLine({ z, quality, issues, spectype, comment }) {
  return [
    z !== null && `z ${redshift(z)}`,
    quality !== null && t('quality {quality}', { quality }),
    issues && t('issues {issues}', { issues }),
    spectype,
    comment && `“${comment}”`,
  ]
    .filter(Boolean)
    .join(' · ')
}

/**
 * The button in the item's header: what this person found, and whether people differ; null where there is neither.
 * @param {Item} item @param {() => void} onClick
 */
export function inspectionButton({ inspection: { mine, merged } }, onClick) {
  const conflict = merged?.conflict.length
    ? t(', people differ: {conflict}', { conflict: merged.conflict.map(word).join(', ') })
    : ''
  if (!mine && !conflict) return null
  const text = (mine && inLine({ ...mine, comment: '' })) || t('inspection')
  const title = t('Your redshift, quality, issues and class of this spectrum{conflict}', { conflict })
  return h(`button.guide.inspection${conflict ? '.amber' : ''}`, { title, onClick }, text)
}

const triedName = (/** @type {string} */ initials, /** @type {number} */ item) => `so-z ${initials} ${item}`

/**
 * The redshift at which the plot of an item starts: the last one tried in this browser, otherwise that of the person's
 * inspection; null for the file's.
 * @param {string} initials @param {Item} item
 * @returns {number | null}
 */
export function ownRedshift(initials, item) {
  const tried = lasting.read(triedName(initials, item.id))
  if (tried && tried.born === item.version.at) return tried.z
  return item.inspection.mine?.z ?? null
}

/**
 * Keep a redshift that was tried.
 * @param {string} initials @param {Item} item @param {number} z @param {number} known the file's
 */
export function keepTried(initials, item, z, known) {
  const starts = item.inspection.mine?.z ?? known
  if (z === starts) forgetTried(initials, item.id)
  else lasting.set(triedName(initials, item.id), JSON.stringify({ z, born: item.version.at }))
}

/** @param {string} initials @param {number} item */
export const forgetTried = (initials, item) => lasting.remove(triedName(initials, item))
