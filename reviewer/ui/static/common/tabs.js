// The tabs of the page, which are Gradio's: open one, and restore it after a reload.

import { thisTab } from './browser_storage.js'
import { t } from './language.js'

const KEPT_TAB = 'so-tab'
const MOST_SHOWN = 999 // on a tab

/** @type {string | null} the tab of which the history knows that it is in front */
let noted = null

/** @param {string} id in page.py, e.g. "review" @param {{byAddress?: boolean}} options the address names it already */
export function openTab(id, { byAddress = false } = {}) {
  if (byAddress) noted = id
  document.getElementById(`so-tab-${id}-button`)?.click()
}

/**
 * Write beside the name of a tab how much waits there; 0: nothing. The style sheet draws it (theme.css): an element in
 * Gradio's row of tabs would be lost when it is drawn anew. What follows "/" is read out.
 * @param {string} id @param {number} n
 */
export function showCount(id, n) {
  const content = n ? `"${n > MOST_SHOWN ? `${MOST_SHOWN}+` : n}" / ${JSON.stringify(t('{n} waiting', { n }))}` : null
  const { style } = document.documentElement
  style.setProperty(`--so-count-${id}`, content)
  style.setProperty(`--so-room-${id}`, content && '26px')
}

/** Whether a tab with keys of its own is in front. */
export const deskInFront = () =>
  [...document.querySelectorAll('.so-desk')].some((element) => element.getClientRects().length > 0)

/** Whether there is such a tab. @param {string} id */
export const hasTab = (id) => document.getElementById(`so-tab-${id}-button`) !== null

/** Call `act` each time a tab is shown again, but not the first time. */
export function whenBack(root, act) {
  let wasAway = false
  new IntersectionObserver((entries) => {
    const inFront = entries.at(-1)?.isIntersecting ?? false
    if (inFront && wasAway) act()
    wasAway = !inFront
  }).observe(root)
}

/**
 * Open the tab of a link, or else the one that was open before the page was loaded again, and note from now on which
 * one is.
 * @param {string | null} linked @param {(id: string) => void} onOpen a tab was opened
 */
export function comeBack(linked, onOpen) {
  const id = linked ?? thisTab.get(KEPT_TAB)
  if (id) openTab(id)
  const tabs = document.getElementById('so-tabs')
  const note = () => {
    const open = tabs?.querySelector('[role=tab][data-tab-id][aria-selected=true]')
    const shown = open?.getAttribute('data-tab-id')
    if (!shown) return
    thisTab.set(KEPT_TAB, shown)
    if (shown === noted) return // `aria-selected` changes inside the tab, too
    noted = shown
    onOpen(shown)
  }
  // At once: an entry that is made later would come after a Back that was pressed meanwhile.
  if (tabs) new MutationObserver(note).observe(tabs, { subtree: true, attributeFilter: ['aria-selected'] })
}
