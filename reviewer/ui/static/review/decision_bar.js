// The decision bar: at the same place in every round, only its verbs change. Each button carries its key.

import { cap, fill, h } from '../common/dom.js'

const ACTION = {
  keep: 'decide-yes',
  submit: 'decide-yes',
  pass: 'decide-yes',
  approve: 'decide-yes',
  return: 'decide-return',
  reject: 'decide-no',
  abstain: 'decide-abstain',
}
const DOUBLE_CLICK = 500 // ms; its second half would decide the next item, which nobody has seen
const LOOK = { 'decide-yes': '.primary', 'decide-no': '.danger' }

export class DecisionBar {
  /** @param {{onVerb, onVerdict, onComment, onUndo, onNext, onHistory}} callbacks */
  constructor(root, keys, callbacks) {
    this.root = root
    this.keys = keys
    this.on = callbacks
    this.comment = h('input.comment', {
      type: 'text',
      autocomplete: 'off',
      'aria-label': 'Comment',
      onInput: (e) => this.on.onComment(e.target.value),
      onKeydown: (e) => {
        if (e.key === 'Escape' || e.key === 'Enter') {
          e.preventDefault()
          e.stopPropagation()
          e.target.blur()
        }
      },
    })
  }

  /** @param {{item: Object|null, dirty: boolean, message: string}} state */
  show({ item, dirty, message }) {
    this.shown = item?.id
    if (!item) {
      fill(this.root, h('span.muted', {}, message), h('span.spring'), this.#undo())
      return
    }
    const round = item.standing.round
    this.comment.placeholder = round === 'revision' ? 'what was changed and why (c)' : 'comment (c)'
    fill(
      this.root,
      item.hidden ? this.#verdicts() : this.#verbs(item, dirty),
      this.comment,
      this.#info(item, message),
      this.#undo(),
      h('button', { type: 'button', onClick: () => this.on.onNext() }, 'Next ', cap(this.keys.of('next'))),
    )
  }

  #undo() {
    return h(
      'button',
      { type: 'button', onClick: () => this.on.onUndo(), title: 'take back your last decision' },
      'Undo ',
      cap(this.keys.of('undo')),
    )
  }

  #verdicts() {
    const button = (verdict, label, key) =>
      h(
        'button',
        { type: 'button', onClick: (event) => this.#once(event, () => this.on.onVerdict(verdict)) },
        label,
        ' ',
        cap(key),
      )
    return [
      h('span.ask', {}, 'Your verdict first:'),
      button('YES', 'YES', 'Y'),
      button('NO', 'NO', 'X'),
      button('cannot tell', 'cannot tell', 'C'),
    ]
  }

  #verbs(item, dirty) {
    if (!item.standing.round) return h(`span.decided.${item.standing.state}`, {}, item.standing.state)
    const round = h('span.round', {}, item.standing.progress)
    return [
      round,
      item.may.verbs.map(({ verb, label, refusal }) => {
        const action = ACTION[verb]
        const text = verb === 'submit' && dirty ? 'Save and submit' : label
        return h(
          `button${LOOK[action] ?? ''}`,
          {
            type: 'button',
            disabled: refusal !== null,
            title: refusal ?? '',
            onClick: (event) => this.#once(event, () => this.on.onVerb(verb)),
          },
          text,
          ' ',
          cap(this.keys.of(action)),
        )
      }),
    ]
  }

  #once(event, act) {
    const { clicked, on } = this.last ?? {}
    this.last = { clicked: event.timeStamp, on: this.shown }
    if (event.timeStamp - clicked < DOUBLE_CLICK && on !== this.shown) return
    act()
  }

  #info(item, message) {
    const said = item.standing.decisions.at(-1)
    const last = said?.comment ? `${said.person}: “${said.comment}”` : said ? `${said.person}: ${said.verb}` : ''
    const by =
      item.version.number > 1
        ? `v${item.version.number} by ${item.version.author ?? '?'}${item.version.reason ? ` · “${item.version.reason}”` : ''}`
        : `draft by ${item.row.drafter.name}`
    const refused =
      !item.hidden && item.may.verbs.length && item.may.verbs.every((v) => v.refusal) ? item.may.verbs[0].refusal : ''
    return [
      h(
        'span.info',
        { title: [by, last, refused].filter(Boolean).join('\n') },
        message || refused || [by, last].filter(Boolean).join(' · '),
      ),
      h(
        'button.link.history',
        { type: 'button', onClick: () => this.on.onHistory() },
        'history ',
        cap(this.keys.of('history')),
      ),
    ]
  }

  focusComment() {
    this.comment.focus()
  }
}

/** The verb of this item that an action stands for: "decide-yes" is keep, submit, pass or approve by the round. */
export const verbFor = (item, action) => item?.may.verbs.find((v) => ACTION[v.verb] === action)?.verb ?? null
