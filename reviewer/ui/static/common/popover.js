// A small sheet that a button opens next to itself, above everything and without moving the page. Its content is built
// when it opens.

import { cap, fill, h } from './dom.js'

/** A button of a menu with its key. @param {string} text @param {string} key @param {Record<string, any>} props */
export const menuButton = (text, key, props) => h('button.entry', { ...props }, h('span', text), key && cap(key))

/**
 * Close a menu once an entry is chosen, and then do what it says, which may move the focus. After a click with the
 * mouse the next keys are those of the desk. @param {HTMLElement} sheet
 */
export function closeOnChoice(sheet) {
  const close = (/** @type {MouseEvent} */ { detail, target }) => {
    if (!(target instanceof Element) || !target.closest('.entry:is(button, a)')) return
    sheet.hidePopover()
    if (detail > 0 && document.activeElement instanceof HTMLElement) document.activeElement.blur()
  }
  sheet.addEventListener('click', close, { capture: true })
}

/**
 * Give a button its sheet; put the sheet next to it in the page.
 * @param {HTMLButtonElement} button @param {string} selector of the sheet, e.g. "div.facts-sheet" @param {string} label
 * @param {() => import('./dom.js').Child[]} content
 */
export function sheetOf(button, selector, label, content) {
  const sheet = h(selector, { popover: 'auto', role: 'dialog', 'aria-label': label, tabIndex: -1 })
  sheet.classList.add('so-popover')
  button.popoverTargetElement = sheet
  button.setAttribute('aria-haspopup', 'dialog')
  sheet.addEventListener('beforetoggle', (event) => {
    if (/** @type {ToggleEvent} */ (event).newState === 'open') fill(sheet, content())
  })
  const place = () => {
    const { left, top, bottom } = button.getBoundingClientRect()
    const { offsetWidth: width, offsetHeight: height } = sheet
    const fits = bottom + 4 + height <= innerHeight - 8
    const x = Math.max(8, Math.min(left, innerWidth - width - 8))
    const y = fits ? bottom + 4 : Math.max(8, top - 4 - height)
    Object.assign(sheet.style, { left: `${x}px`, top: `${y}px` })
  }
  // Its content may grow while it is open, e.g. by a picture.
  const resized = new ResizeObserver(place)
  sheet.addEventListener('toggle', (event) => {
    if (/** @type {ToggleEvent} */ (event).newState !== 'open') return resized.disconnect()
    place()
    resized.observe(sheet)
  })
  // The keys of the desk take Escape before the browser does.
  const close = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== 'Escape' || !sheet.matches(':popover-open')) return
    event.stopPropagation()
    sheet.hidePopover()
    button.focus()
  }
  button.addEventListener('keydown', close)
  sheet.addEventListener('keydown', close)
  return sheet
}

/** The keys of an open menu of entries: arrows, Home and End move in it. @param {HTMLElement} menu a popover */
export function menuKeys(menu) {
  menu.addEventListener('keydown', (event) => {
    event.stopPropagation() // no key of the tab behind acts while the menu is open
    const entries = /** @type {HTMLElement[]} */ ([...menu.querySelectorAll('.entry:not(:disabled)')])
    const at = entries.findIndex((entry) => entry === document.activeElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    if (event.key === 'Tab') menu.hidePopover() // the browser moves the focus on from the button
    if (to === undefined) return
    entries.at(to % entries.length)?.focus()
    event.preventDefault()
  })
}
