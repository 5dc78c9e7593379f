// One thread of comments: what it is about, the comments in order, a reply, and whether it is resolved.

import { fill, h } from '../common/dom.js'
import { dateAndTime } from '../common/format.js'
import { t, tn } from '../common/language.js'
import { textElements } from './text.js'
import { CommentField } from './field.js'

/**
 * @typedef {Object} ThreadOptions
 * @property {string} me initials
 * @property {import('../review/dialogs.js').UnsentAnswer} unsent of the reply
 * @property {() => Colleague[]} people who can be mentioned
 * @property {(id: string) => string} about what a step is called
 * @property {(id: string) => void} onStep
 * @property {(text: string, key: string, onWait: () => void) => Promise<void>} onReply
 * @property {(resolved: boolean) => Promise<void>} onResolve
 */

export class ThreadBox {
  /** Whether a resolved thread is shown whole. */
  #shown = false
  /** Whether the field for a reply is open. */
  #replying = false
  /** What is drawn. */
  #drawn = ''

  /**
   * @param {CommentThread} thread @param {number} newFrom comments after this one are new
   * @param {ThreadOptions} options
   */
  constructor(thread, newFrom, options) {
    this.thread = thread
    this.newFrom = newFrom
    this.options = options
    this.header = h('header')
    this.list = h('ol')
    this.field = new CommentField({
      label: t('Reply'),
      hint: t('Reply …'),
      action: t('Reply'),
      unsent: options.unsent,
      people: options.people,
      send: async (text, key, onWait) => {
        await options.onReply(text, key, onWait)
        this.#replying = false
        this.#draw()
      },
      onLeave: () => this.#openReply(false),
    })
    this.reply = h('button.link.reply', { onClick: () => this.#openReply(true) }, t('Reply'))
    this.root = h('article.thread', { 'data-thread': thread.id }, this.header, this.list, this.reply, this.field.root)
    this.#replying = !this.field.isEmpty
    this.update(thread)
  }

  /** @param {boolean} open */
  #openReply(open) {
    this.#replying = open
    this.#draw()
    if (open) this.field.focus()
    else this.reply.focus()
  }

  /** Whether it has comments that the person has not seen before. */
  get isNew() {
    return this.thread.comments.some((comment) => this.#isNew(comment))
  }

  /** @param {CommentSent} comment */
  #isNew(comment) {
    return comment.id > this.newFrom && comment.person !== this.options.me && !comment.source
  }

  /** @param {CommentThread} thread */
  update(thread) {
    this.thread = thread
    const fresh = JSON.stringify([thread, this.#title(), this.options.people()])
    if (fresh === this.#drawn) return // what has the focus keeps it
    this.#drawn = fresh
    this.#draw()
  }

  #draw() {
    const { thread, options } = this
    const folded = thread.resolved && !this.#shown && !this.isNew && this.field.isEmpty
    this.root.classList.toggle('resolved', thread.resolved)
    this.root.setAttribute('aria-label', this.#title())
    const by = thread.resolved_by
    const toggle = () => {
      this.#shown = folded
      this.#draw()
    }
    // A button that has the focus is drawn again with it.
    const focused = this.header.contains(document.activeElement) ? document.activeElement?.className : ''
    const count = thread.comments.length
    fill(
      this.header,
      thread.step
        ? h('button.link.step', { onClick: () => options.onStep(thread.step) }, this.#title())
        : h('span.step', this.#title()),
      by &&
        h(
          'span.pill.green',
          { title: dateAndTime(by.at) },
          by.person === null ? t('resolved') : t('resolved by {person}', { person: by.person }),
        ),
      thread.resolved &&
        h(
          'button.link.show',
          { 'aria-expanded': String(!folded), onClick: toggle },
          folded ? tn('show {n} comment', 'show {n} comments', count) : t('hide'),
        ),
      h('span.spring'),
      h(
        'button.resolve',
        { onClick: () => options.onResolve(!thread.resolved) },
        thread.resolved ? t('Reopen') : t('Resolve'),
      ),
    )
    if (focused) this.header.querySelector(`button.${focused.split(' ').join('.')}`)?.focus()
    fill(this.list, folded ? [] : thread.comments.map((comment) => this.#comment(comment)))
    this.list.hidden = folded
    this.reply.hidden = folded || this.#replying
    this.field.root.hidden = folded || !this.#replying
  }

  #title() {
    const { step } = this.thread
    return step ? this.options.about(step) : t('The whole item')
  }

  /** @param {CommentSent} comment */
  #comment(comment) {
    const initials = this.options.people().map((person) => person.initials)
    const name = this.options.people().find((person) => person.initials === comment.person)?.name
    return h(
      'li.comment',
      { id: `so-comment-of-${comment.id}`, tabIndex: -1 },
      h(
        'div.by',
        comment.person !== null && h('strong', { title: name ?? '' }, comment.person),
        comment.source && h('span.pill.grey', { title: t('imported from another program') }, h('bdi', comment.source)),
        h('time.muted', { dateTime: comment.at }, dateAndTime(comment.at)),
        this.#isNew(comment) && h('span.pill.amber', t('new')),
      ),
      h('p.text', { dir: 'auto' }, textElements(comment.text, initials)),
    )
  }
}
