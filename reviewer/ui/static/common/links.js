// The address of the page, and links from everywhere on it and from other people: `#tab=live` opens a tab,
// `#batch=NAME` shows a batch, `#view=12` opens a saved view in Find, `#item=12` opens an item in Review. The last can
// name a version, a step, a range of the spectrum, and a second trace: `#item=12&version=3&step=s4&range=6500-6620`,
// `#item=12&beside=48`. Each tab and each item that a person opens is an entry of the browser's history.

import { thisTab } from './browser_storage.js'
import { closePanel } from './panels.js'
import { hasTab, openTab } from './tabs.js'

const KEPT_ITEM = 'so-item'
const BATCH = '#batch='
const VIEW = '#view='
const TAB = '#tab='

const viewIn = (/** @type {string} */ hash) => (hash.startsWith(VIEW) && Number(hash.slice(VIEW.length))) || null
const batchIn = (/** @type {string} */ hash) => (hash.startsWith(BATCH) && decoded(hash.slice(BATCH.length))) || null

/** The tab in which a link opens; null: it is none. @param {string} hash */
function tabOf(hash) {
  if (viewIn(hash) !== null) return 'find'
  if (hash.startsWith(TAB)) return hasTab(hash.slice(TAB.length)) ? hash.slice(TAB.length) : null
  return (batchIn(hash) ?? readLink(hash)) ? 'review' : null
}

/** @type {number | null} the view of a link, until the Find tab opens it */
let wantedView = viewIn(location.hash)

// null: the Review desk is not built yet; it will open what the address names
/** @type {Parameters<typeof followLinks>[0] | null} */
let review = null

/** The view that the Find tab has to open, once. Later ones are announced by the event "so-view" of the window. */
export function takeView() {
  const view = wantedView
  wantedView = null
  return view
}

/** Another search is shown: a reload of the page opens no view again. */
export function leaveView() {
  if (location.hash.startsWith(VIEW)) replaceAddress(`${TAB}find`)
}

/** @param {string} hash of an address or a link */
function follow(hash) {
  wantedView = viewIn(hash)
  const tab = tabOf(hash)
  if (tab) openTab(tab, { byAddress: true })
  if (wantedView !== null) dispatchEvent(new Event('so-view'))
  const item = readLink(hash)
  const batch = batchIn(hash)
  if (item) review?.onItem(item)
  else if (batch) review?.onBatch(batch)
}

// From the first moment on: a link, Back or Forward. Not `hashchange`, which comes later than the change itself: what
// is put into the address between the two would be an entry that nobody opened.
addEventListener('popstate', () => {
  closePanel() // it belongs to what was shown; what is typed in it is kept
  follow(location.hash)
})

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
  const [, lo, hi] = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text)?.map(Number) ?? []
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

/** Read a link; null where it names no item. @param {string} hash from "#" on @returns {ItemLink | null} */
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

/** The link to an item, from "#" on. @param {{item: number} & Partial<ItemLink>} link */
export function linkTo({ item, version, step, range, beside }) {
  const parts = [
    `item=${item}`,
    version && `version=${version}`,
    step && `step=${encodeURIComponent(step)}`,
    range && `range=${range.map((edge) => Math.round(edge * 10) / 10).join('-')}`,
    beside && `beside=${beside}`,
  ]
  return `#${parts.filter(Boolean).join('&')}`
}

/** The item that the address names; after a reload also the one that was open, where it names something else. */
export const linkToOpen = () => readLink(location.hash) ?? (isReload() ? readLink(thisTab.get(KEPT_ITEM) ?? '') : null)

const NO_ITEM = `${TAB}review`

let ofReview = NO_ITEM // what the address names while Review is in front

const replaceAddress = (/** @type {string} */ link) => history.replaceState(null, '', link)

/** The tab that the address names; without an address the first one. */
const tabOfAddress = () => tabOf(location.hash) ?? 'review'

/**
 * Name what Review shows in the address, if it is in front: another item is a new entry of the history.
 * @param {string} link from "#" on @param {{byAddress?: boolean}} options `byAddress`: an address has opened it, which
 *   has its entry; Back may have been pressed again meanwhile
 */
export function setAddress(link, { byAddress = false } = {}) {
  thisTab.set(KEPT_ITEM, link)
  ofReview = link
  if (tabOfAddress() !== 'review' || location.hash === link) return
  const named = readLink(location.hash)
  if (byAddress || named === null || named.item === readLink(link)?.item) replaceAddress(link)
  else history.pushState(null, '', link)
}

/** Review shows no item. */
export const setNoItem = () => setAddress(NO_ITEM)

/** A tab was opened, and not by the address: a new entry of the history. @param {string} id */
export function tabOpened(id) {
  if (tabOfAddress() === id) return
  const address = id === 'review' ? ofReview : TAB + id
  if (location.hash) history.pushState(null, '', address)
  else replaceAddress(address)
}

/** Open Review for an item that is found out first: the next item takes the place of this entry. */
export function openReview() {
  history.pushState(null, '', NO_ITEM)
  openTab('review')
}

export const openItem = (/** @type {number} */ item) => void (location.hash = linkTo({ item }))

/** The batch that the address names, once: the filter can be changed afterwards. */
export function takeBatch() {
  const batch = batchIn(location.hash)
  if (batch) replaceAddress(NO_ITEM)
  return batch
}

/** Whether the page was loaded again or returned to: its address names what one of its tabs showed. */
function isReload() {
  const [opening] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType('navigation'))
  return opening !== undefined && opening.type !== 'navigate'
}

/** The tab that the address names when the page is opened or loaded again; null: none. */
export const tabOfFirstLink = () => tabOf(location.hash)

/**
 * Open each link that is followed in its tab; the Review desk opens items and batches.
 * @param {{onItem: (link: ItemLink) => void, onBatch: (batch: string) => void}} callbacks
 */
export function followLinks(callbacks) {
  review = callbacks
  document.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || !(event.target instanceof Element)) return
    const href = event.target.closest('a')?.getAttribute('href') ?? ''
    if (!href.startsWith(BATCH) && !href.startsWith(VIEW)) return
    event.preventDefault()
    history.pushState(null, '', href.startsWith(BATCH) ? NO_ITEM : href)
    follow(href)
  })
}
