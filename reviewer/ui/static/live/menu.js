// A small sheet that opens over a button of the bar: settings, downloads, the server's health.

import { fill, h } from '../common/dom.js'

export class Menu {
  static #open = null

  /** Close the one that is open; false where none is. */
  static closeOpen() {
    if (!Menu.#open) return false
    Menu.#open.close()
    return true
  }

  /**
   * @param {HTMLButtonElement} button
   * @param {string} label  what a screen reader calls the sheet
   * @param {() => *} content  made anew each time it opens
   */
  constructor(button, label, content) {
    this.button = button
    this.sheet = h('div.sheet', { hidden: true, role: 'dialog', 'aria-label': label })
    this.root = h('span.menu', {}, button, this.sheet)
    button.setAttribute('aria-haspopup', 'dialog')
    button.setAttribute('aria-expanded', 'false')
    button.addEventListener('click', () => (this.sheet.hidden ? this.open() : this.close()))
    this.content = content
    document.addEventListener(
      'pointerdown',
      (event) => !this.root.contains(event.target) && this.close({ focus: false }),
    )
  }

  open() {
    Menu.closeOpen()
    Menu.#open = this
    this.redraw()
    this.sheet.hidden = false
    this.button.setAttribute('aria-expanded', 'true')
    this.sheet.querySelector('input, a, button')?.focus()
  }

  close({ focus = true } = {}) {
    if (this.sheet.hidden) return
    Menu.#open = null
    const within = this.sheet.contains(document.activeElement)
    if (within) document.activeElement.blur() // what was typed is taken over before it is out of sight
    this.sheet.hidden = true
    this.button.setAttribute('aria-expanded', 'false')
    if (focus && within) this.button.focus()
  }

  get isOpen() {
    return !this.sheet.hidden
  }

  redraw() {
    fill(this.sheet, this.content())
  }
}
