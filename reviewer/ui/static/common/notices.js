// What a tab says to the person: a line over the trace that stays until it is over, and a word that goes by itself.

import { fill, h } from './dom.js'

const TOAST_TIME = 3500 // ms

export class Notices {
  /** @param {HTMLElement} line  @param {HTMLElement} toasts */
  constructor(line, toasts) {
    this.line = line
    this.toasts = toasts
  }

  /**
   * A line over the trace; without a text it goes.
   * @param {{until?: string | null, tone?: string}} more  `until` names what makes it untrue: "edit", the next change;
   *        "heard", the server's next answer; "held", the item is this person's again
   */
  say(text, action = null, act = null, { until = null, tone = '' } = {}) {
    const { line } = this
    this.until = until
    line.hidden = !text
    line.className = tone ? `notice ${tone}` : 'notice'
    if (!text) return
    const close = () => {
      line.hidden = true
    }
    fill(
      line,
      h('span', {}, text),
      action &&
        h(
          'button',
          {
            type: 'button',
            onClick: () => {
              close()
              act()
            },
          },
          action,
        ),
      h('button.link', { type: 'button', 'aria-label': 'close', onClick: close }, '✕'),
    )
    keepInView(line.parentElement)
  }

  /** Something came about: a line that waited for it goes. */
  over(event) {
    if (this.until === event) this.say(null)
  }

  toast(text) {
    if (!text) return
    for (const same of [...this.toasts.children].filter((toast) => toast.textContent === text)) same.remove()
    while (this.toasts.children.length > 1) this.toasts.firstChild.remove()
    const toast = h('div.toast', {}, text)
    this.toasts.append(toast)
    setTimeout(() => toast.remove(), TOAST_TIME)
  }
}

/** The line pushes the trace down: what is being typed stays where it can be seen. */
function keepInView(pane) {
  const typing = document.activeElement
  if (pane?.contains(typing) && typing.matches('textarea, input')) typing.scrollIntoView({ block: 'nearest' })
}
