// The entries of a menu of downloads: a spectrum as a figure and as a table.

import { address } from '../common/address.js'
import { t } from '../common/language.js'

/**
 * @param {string} url of the item, the run or the row of the bench, e.g. /api/v1/item/12
 * @param {number[] | null} [window] what the figure shows below the whole spectrum: [from, to] in Å, observed
 * @param {Record<string, any>} [query] e.g. {verdict_first: true} for an item whose answer is hidden by the person
 */
export function downloads(url, window = null, query = {}) {
  const span = window ? { lo: window[0], hi: window[1] } : {}
  const entry = (/** @type {string} */ text, /** @type {string} */ file, more = {}) => ({
    text,
    url: address(`${url}/${file}?${new URLSearchParams({ ...query, ...more })}`),
  })
  const figure = (/** @type {string} */ kind) =>
    entry(t('Figure ({kind})', { kind }), `figure.${kind.toLowerCase()}`, span)
  const table = (/** @type {string} */ kind) =>
    entry(t('Spectrum ({kind})', { kind }), `spectrum.${kind.toLowerCase()}`)
  return [...['PNG', 'SVG', 'PDF'].map(figure), ...['CSV', 'ECSV'].map(table)]
}

/** The range of a view's lower plot as observed wavelengths (Å), null without one. @param {any} view */
export function observedRange({ lowerRange, item }) {
  const stretch = item?.spectrum.frame === 'rest' ? 1 + (item.spectrum.redshift ?? 0) : 1
  return lowerRange?.map((/** @type {number} */ at) => at * stretch) ?? null
}
