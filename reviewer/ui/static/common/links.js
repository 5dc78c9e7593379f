// Links from everywhere on the page, and from other people: `#batch=NAME` shows a batch, `#view=12` opens a saved view
// in Find, `#item=12` opens an item in Review. The last can name a version, a step, a range of the spectrum, and a
// second trace: `#item=12&version=3&step=s4&range=6500-6620`, `#item=12&beside=48`.

import { openTab } from './tabs.js'

const BATCH = '#batch='
const ITEM = '#item='
const VIEW = '#view='

/** @param {string} hash */
const viewIn = (hash) => (hash.startsWith(VIEW) ? Number(hash.slice(VIEW.length)) || null : null)

/** @type {number | null} the view of a link, until the Find tab opens it */
let wantedView = viewIn(location.hash)

/** The view that the Find tab has to open, once. Later ones are announced by the event "so-view" of the window. */
export function takeView() {
  const view = wantedView
  wantedView = null
  return view
}

/** Another search is shown: a reload of the page opens no view again. */
export function leaveView() {
  if (location.hash.startsWith(VIEW)) history.replaceState(null, '', location.pathname + location.search)
}

/** @param {string} hash of an address or a link */
function followView(hash) {
  wantedView = viewIn(hash)
  if (wantedView === null) return
  openTab('find')
  dispatchEvent(new Event('so-view'))
}

/**
 * What a link to an item names; null: it does not.
 * @typedef {Object} ItemLink
 * @property {number} item
 * @property {number | null} version its number
 * @property {string | null} step its id
 * @property {[number, number] | null} range of the spectrum, Å in the observed frame
 * @property {number | null} beside the item whose trace is shown next to this one
 * @property {string[]} ignored parts that cannot be read
 */

const LARGEST = 10 ** 15
const LONGEST_STEP = 200 // characters; imported steps can have any text as their id

/** A whole number of 1 or more; null for any other text. @param {string} text */
const wholeNumber = (text) => (/^[1-9]\d*$/.test(text) && Number(text) < LARGEST ? Number(text) : null)

/** "6500-6620" as two numbers, in order. @param {string} text @returns {[number, number] | null} */
function rangeOf(text) {
  const found = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text)
  const [lo, hi] = found ? [Number(found[1]), Number(found[2])] : [0, 0]
  return lo < hi && hi < LARGEST ? [lo, hi] : null
}

/** @type {Record<string, (text: string) => any>} */
const PARTS = {
  item: wholeNumber,
  version: wholeNumber,
  step: (text) => (text && text.length <= LONGEST_STEP ? text : null),
  range: rangeOf,
  beside: wholeNumber,
}

/**
 * Read a link; null where it names no item.
 * @param {string} hash the part of an address from "#" on
 * @returns {ItemLink | null}
 */
export function readLink(hash) {
  /** @type {any} */
  const link = { item: null, version: null, step: null, range: null, beside: null, ignored: [] }
  for (const part of hash.replace(/^#/, '').split('&').filter(Boolean)) {
    const [name, ...rest] = part.split('=')
    const value = Object.hasOwn(PARTS, name) ? PARTS[name](decoded(rest.join('='))) : null
    if (value === null) link.ignored.push(decoded(part))
    else link[name] = value
  }
  return link.item === null ? null : link
}

/** A damaged escape stays as it is. @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * The link to an item, without the parts that are not given.
 * @param {{item: number} & Partial<ItemLink>} link @returns {string} from "#" on
 */
export function linkTo({ item, version, step, range, beside }) {
  const parts = [`item=${item}`]
  if (version) parts.push(`version=${version}`)
  if (step) parts.push(`step=${encodeURIComponent(step)}`)
  if (range) parts.push(`range=${range.map((edge) => Math.round(edge * 10) / 10).join('-')}`)
  if (beside) parts.push(`beside=${beside}`)
  return `#${parts.join('&')}`
}

/** The item that the address names. */
export const linkInAddress = () => readLink(location.hash)

/**
 * Open the Review tab when such a link is clicked. The change of the address opens an item; `onBatch` shows a batch.
 * @param {(batch: string) => void} onBatch
 */
export function followLinks(onBatch) {
  if (wantedView !== null) openTab('find')
  addEventListener('hashchange', () => followView(location.hash))
  document.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || !(event.target instanceof Element)) return
    const href = event.target.closest('a')?.getAttribute('href') ?? ''
    if (href.startsWith(BATCH)) {
      event.preventDefault()
      onBatch(decodeURIComponent(href.slice(BATCH.length)))
    } else if (href.startsWith(VIEW)) {
      event.preventDefault()
      history.replaceState(null, '', href)
      return followView(href)
    } else if (!href.startsWith(ITEM)) return
    openTab('review')
  })
}
