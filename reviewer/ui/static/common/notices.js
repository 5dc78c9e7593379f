// Messages of a tab: a line above the trace that stays as long as it applies, and toasts that disappear by themselves.

import { fill, h } from './dom.js'
import { Unreachable } from './http.js'
import { sentences, t } from './language.js'

const TOAST_TIME = 3500 // ms

/**
 * @typedef {{label?: string | null, onClick?: (() => void) | null, until?: string | null, tone?: string}} NoticeOptions
 *   `label`, `onClick`: of a button in the line; `until`: the event after which the line is removed: "edit", the next
 *   change of the text; "saved", the next successful save; "lease", the item is leased to this person; `tone`: a CSS
 *   class, "good" or "done"
 */

export class Notices {
  /** @type {string | null} */
  #until = null
  /** @type {Map<string, HTMLElement>} the toasts on the page */
  #byText = new Map()

  constructor() {
    this.line = h('div.notice', { hidden: true, role: 'status' })
    this.toasts = h('div.toasts', { role: 'status' })
  }

  get shown() {
    return !this.line.hidden
  }

  /** @param {string} text @param {NoticeOptions} options */
  show(text, { label = null, onClick = null, until = null, tone = '' } = {}) {
    const { line } = this
    this.#until = until
    line.hidden = false
    line.className = tone ? `notice ${tone}` : 'notice'
    const act = () => {
      line.hidden = true
      onClick?.()
    }
    fill(
      line,
      h('span', text),
      label && h('button', { onClick: act }, label),
      h('button.link', { 'aria-label': t('close'), onClick: () => (line.hidden = true) }, '✕'),
    )
    // The line moves the trace down, with the focused field.
    const field = document.activeElement
    if (line.parentElement?.contains(field) && field?.matches('textarea, input'))
      field.scrollIntoView({ block: 'nearest' })
  }

  clear() {
    this.#until = null
    this.line.hidden = true
  }

  /** Remove the line if it was shown until this event. @param {string} event */
  happened(event) {
    if (this.#until === event) this.clear()
  }

  /** @param {string | null | undefined} text */
  toast(text) {
    if (!text) return
    this.#byText.get(text)?.remove()
    while (this.toasts.children.length > 1) this.toasts.firstChild?.remove()
    const toast = h('div.toast', text)
    this.#byText.set(text, toast)
    this.toasts.append(toast)
    setTimeout(() => {
      toast.remove()
      if (this.#byText.get(text) === toast) this.#byText.delete(text)
    }, TOAST_TIME)
  }

  /** Show why something failed. @param {any} error @param {string} [prefix] what failed */
  error(error, prefix = '') {
    this.show(sentences(prefix.trim(), reasonOf(error)))
  }
}

/** Why a request failed that is not repeated by itself; an error of the program is logged. @param {any} error */
function reasonOf(error) {
  if (error instanceof Unreachable) return t('The server does not answer. Is it still running? Try again.')
  if (!error.kind) console.error(error)
  return error.message
}

/** Show why something failed, e.g. in a dialog. @param {HTMLElement} place hidden so far @param {any} error */
export function showError(place, error) {
  place.hidden = false
  place.textContent = reasonOf(error)
}
