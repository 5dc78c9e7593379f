// One thread of comments: what it is about, the comments in order, a reply, and whether it is resolved.

import { fill, h } from '../common/dom.js'
import { dateAndTime } from '../common/format.js'
import { t, tn } from '../common/language.js'
import { textElements } from './text.js'
import { CommentField } from './field.js'

export class ThreadBox {
  #shown = false // whole, although it is resolved
  #replying = false
  #drawn = '' // what is drawn

  /**
   * @param {CommentThread} thread
   * @param {{isNew: (comment: CommentSent) => boolean, unsent: import('./field.js').Unsent, people: () => Colleague[],
   *   about: (id: string) => string, onStep: (id: string) => void, onResolve: (resolved: boolean) => Promise<void>,
   *   onReply: (text: string, key: string, onWait: () => void) => Promise<void>}} options `about`: the name of a step
   */
  constructor(thread, options) {
    this.thread = thread
    this.options = options
    this.header = h('header')
    this.list = h('ol')
    const { unsent, people } = options
    const send = async (text, key, onWait) => {
      await options.onReply(text, key, onWait)
      this.#replying = false
      this.#draw()
    }
    const onLeave = () => this.#openReply(false)
    const words = { label: t('Reply'), hint: t('Reply …'), action: t('Reply') }
    this.field = new CommentField({ ...words, unsent, people, send, onLeave })
    this.reply = h('button.link.reply', { onClick: () => this.#openReply(true) }, t('Reply'))
    this.root = h('article.thread', { 'data-thread': thread.id }, this.header, this.list, this.reply, this.field.root)
    this.#replying = !this.field.isEmpty
    this.update(thread)
  }

  #openReply(open) {
    this.#replying = open
    this.#draw()
    if (open) this.field.focus()
    else this.reply.focus()
  }

  /** Whether it has comments that the person has not seen before. */
  get isNew() {
    return this.thread.comments.some(this.options.isNew)
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
    const { step, resolved, resolved_by: by, comments } = thread
    const onStep = { onClick: () => options.onStep(step) }
    const toggle = () => {
      this.#shown = folded
      this.#draw()
    }
    // A button that has the focus is drawn again with it.
    const focused = this.header.contains(document.activeElement) ? document.activeElement?.className : ''
    const resolver = by && (by.person === null ? t('resolved') : t('resolved by {person}', { person: by.person }))
    const show = folded ? tn('show {n} comment', 'show {n} comments', comments.length) : t('hide')
    fill(
      this.header,
      step ? h('button.link.step', onStep, this.#title()) : h('span.step', this.#title()),
      by && h('span.pill.green', { title: dateAndTime(by.at) }, resolver),
      resolved && h('button.link.show', { 'aria-expanded': String(!folded), onClick: toggle }, show),
      h('span.spring'),
      h('button.resolve', { onClick: () => options.onResolve(!resolved) }, resolved ? t('Reopen') : t('Resolve')),
    )
    if (focused) this.header.querySelector(`button.${focused.split(' ').join('.')}`)?.focus()
    fill(this.list, folded ? [] : comments.map((comment) => this.#comment(comment)))
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
    const people = this.options.people()
    const initials = people.map((person) => person.initials)
    const name = people.find((person) => person.initials === comment.person)?.name
    return h(
      'li.comment',
      { id: `so-comment-of-${comment.id}`, tabIndex: -1 },
      h(
        'div.by',
        comment.person !== null && h('strong', { title: name ?? '' }, comment.person),
        comment.source && h('span.pill.grey', { title: t('imported from another program') }, h('bdi', comment.source)),
        h('time.muted', { dateTime: comment.at }, dateAndTime(comment.at)),
        this.options.isNew(comment) && h('span.pill.amber', t('new')),
      ),
      h('p.text', { dir: 'auto' }, textElements(comment.text, initials)),
    )
  }
}
