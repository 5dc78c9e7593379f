// A field for a comment: Enter sends it, @ offers the people who can be mentioned. Its text is kept in the browser
// until the server has it, and is sent with one key until the server has answered.

import { cap, fill, h } from '../common/dom.js'
import { newKey } from '../common/http.js'
import { isComposing } from '../common/keys.js'
import { t } from '../common/language.js'

const MOST_OFFERED = 6
const WHILE_PRESSED = 300 // ms
const LONGEST = 20_000 // characters of a comment
let number = 0

/** @typedef {import('../review/dialogs.js').UnsentAnswer} Unsent */

export class CommentField {
  #sending = false

  /**
   * @param {{label: string, hint: string, action: string, unsent: Unsent, people: () => Colleague[],
   *   send: (text: string, key: string, onWait: () => void) => Promise<void>, onLeave?: (() => void) | null}} options
   *   `hint`: in the empty field; `action`: on the button; `send` resolves when the server has the text; `onLeave`: the
   *   person leaves an empty field
   */
  constructor({ label, hint, action, unsent, people, send, onLeave = null }) {
    this.unsent = unsent
    this.people = people
    this.send = send
    this.onLeave = onLeave
    const id = `so-comment-${++number}`
    this.area = h('textarea', {
      rows: 1,
      placeholder: hint,
      maxLength: LONGEST,
      'aria-label': label,
      'aria-autocomplete': 'list',
      'aria-controls': `${id}-people`,
      onInput: () => this.#typed(),
      onKeydown: (event) => this.#key(event),
      onFocus: () => this.root.classList.add('used'),
      onBlur: () => this.#left(),
    })
    this.offered = h('ul.people', { id: `${id}-people`, role: 'listbox', 'aria-label': t('People'), hidden: true })
    this.note = h('p.note.look', { role: 'alert', hidden: true })
    this.button = h('button.primary', { onClick: () => this.submit() }, action, ' ', cap('Enter'))
    const leaveButton = onLeave && h('button', { onClick: () => this.#leave() }, t('Cancel'))
    const keys = [cap('@'), ' ', t('mention'), ' · ', cap('Shift'), ' ', cap('Enter'), ' ', t('new line')]
    const foot = h('div.foot', h('span.muted', keys), h('span.spring'), leaveButton, this.button)
    this.root = h('div.comment-field', this.area, this.offered, this.note, foot)
    this.use(unsent)
  }

  /** Write another comment here: show what is unsent of it. @param {Unsent} unsent */
  use(unsent) {
    this.unsent = unsent
    this.area.value = unsent.read()?.text ?? ''
    this.#show(false, '')
    this.#fit()
  }

  get isEmpty() {
    return !this.area.value.trim()
  }

  focus() {
    this.area.focus()
    this.root.scrollIntoView({ block: 'nearest' })
  }

  /** The people who can be mentioned have come: offer them if that is awaited. */
  peopleCame() {
    if (document.activeElement === this.area && this.offered.hidden) this.#offer(this.#named())
  }

  /** Send again what the page was sending when it was left: the server may have it, and the key is the same. */
  resume() {
    if (this.unsent.read()?.key) this.submit()
  }

  async submit() {
    const text = this.area.value.trim()
    if (!text || this.#sending) return
    const { unsent } = this
    const key = unsent.read()?.key ?? newKey()
    unsent.keep({ text, key })
    // The field may be used for another comment before this one is sent.
    const show = (sending, note) => unsent === this.unsent && this.#show(sending, note)
    show(true, '')
    try {
      await this.send(text, key, () => show(true, t('Not sent yet: the server does not answer. Trying again …')))
      unsent.forget()
      if (unsent === this.unsent) this.area.value = ''
      show(false, '')
    } catch (error) {
      // What the outbox gives up was refused for good: the next attempt is another request.
      unsent.keep({ text, key: null })
      show(false, error.message)
    }
    this.#fit()
  }

  #show(sending, note) {
    this.#sending = sending
    this.area.readOnly = sending
    this.button.disabled = sending
    this.note.hidden = !note
    this.note.textContent = note
  }

  /** The focus has gone. What moves now would move away from under the pointer that presses a button. */
  #left() {
    setTimeout(() => document.activeElement !== this.area && this.#offer([]), WHILE_PRESSED)
  }

  #leave() {
    this.unsent.forget()
    this.area.value = ''
    this.onLeave?.()
  }

  #typed() {
    const text = this.area.value
    if (text.trim()) this.unsent.keep({ text, key: null })
    else this.unsent.forget()
    this.note.hidden = true
    this.#fit()
    this.#offer(this.#named())
  }

  #fit() {
    this.area.style.height = 'auto'
    if (this.area.scrollHeight) this.area.style.height = `${Math.min(240, this.area.scrollHeight + 2)}px`
  }

  /** The letters after the @ at the cursor; null where there is none. */
  get #begun() {
    const before = this.area.value.slice(0, this.area.selectionStart)
    return /(?<![\w.+\-@])@(\p{L}{0,20})$/u.exec(before)?.[1] ?? null
  }

  /** The people whose initials or names begin with what is typed. */
  #named() {
    const begun = this.#begun
    if (begun === null) return []
    const typed = begun.toUpperCase()
    const fits = ({ initials, name }) =>
      [initials, ...name.split(/[\s.-]+/)].some((word) => word.toUpperCase().startsWith(typed))
    const fitting = this.people().filter(fits)
    // Complete: Enter sends.
    return fitting.length === 1 && fitting[0].initials === begun ? [] : fitting.slice(0, MOST_OFFERED)
  }

  /** @param {Colleague[]} people */
  #offer(people) {
    const { offered } = this
    offered.hidden = !people.length
    const option = ({ initials, name }, at) => {
      const onPointerdown = (event) => {
        event.preventDefault() // the field keeps the focus
        this.#mention(initials)
      }
      const props = { id: `${offered.id}-${at}`, role: 'option', 'data-initials': initials, onPointerdown }
      return h('li', props, h('strong', initials), ' ', h('bdi', name))
    }
    fill(offered, people.map(option))
    this.#activate(0)
    if (people.length) offered.scrollIntoView({ block: 'nearest' })
  }

  #activate(at) {
    const options = [...this.offered.children]
    options.forEach((option, index) => option.setAttribute('aria-selected', String(index === at)))
    const active = options[at]
    if (active) this.area.setAttribute('aria-activedescendant', active.id)
    else this.area.removeAttribute('aria-activedescendant')
  }

  /** Complete the mention at the cursor. @param {string} initials */
  #mention(initials) {
    const begun = this.#begun ?? ''
    const cursor = this.area.selectionStart
    this.area.setRangeText(`${initials} `, cursor - begun.length, cursor, 'end')
    this.#typed()
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (isComposing(event)) return
    const options = [...this.offered.children]
    const ofList = options.length > 0 && this.#keyOfList(event, options)
    if (!ofList && (event.key !== 'Enter' || event.shiftKey || event.altKey)) return
    event.preventDefault()
    event.stopPropagation()
    if (!ofList) this.submit()
  }

  /** @param {KeyboardEvent} event @param {Element[]} options */
  #keyOfList({ key, shiftKey, ctrlKey, metaKey }, options) {
    const at = options.findIndex((option) => option.getAttribute('aria-selected') === 'true')
    const by = { ArrowDown: 1, ArrowUp: -1 }[key]
    if (by) this.#activate((at + by + options.length) % options.length)
    else if (key === 'Escape') this.#offer([])
    else if ((key === 'Enter' || key === 'Tab') && !shiftKey && !ctrlKey && !metaKey)
      this.#mention(/** @type {HTMLElement} */ (options[at]).dataset.initials ?? '')
    else return false
    return true
  }
}
