// The bar below a sheet: two scales with every anchor in words, or the choice between two traces; a comment; save.

import { cap, fill, h } from '../common/dom.js'
import { openPanel } from '../common/panels.js'
import { CANNOT_TELL } from './sheets.js'

export class BlindForm {
  /** @param {{onScore, onFront, onChoose, onComment, onSave}} callbacks */
  constructor(root, callbacks) {
    this.root = root
    this.on = callbacks
    this.front = 'coherence' // the scale that a digit scores
    this.hovered = null
    this.questions = h('div.questions')
    this.words = h('p.words', { 'aria-live': 'polite' })
    this.comment = h('textarea.comment', {
      rows: 2,
      'aria-label': 'Comment',
      placeholder: 'comment (c)',
      onInput: (event) => this.on.onComment(event.target.value),
    })
    this.state = h('span.state', { role: 'status' })
    this.save = h(
      'button.primary',
      { type: 'button', onMousedown: stayThere, onClick: () => this.on.onSave() },
      'Save and next ',
      cap('Enter'),
    )
    fill(
      root,
      h('div.asked', {}, this.questions, this.words),
      h('div.said', {}, this.comment, h('div.send', {}, this.state, this.save)),
    )
  }

  /** Draw for a sheet: `rubric` in the session's words, `answer` as it stands. */
  show(rubric, answer) {
    this.rubric = rubric
    this.answer = answer
    this.hovered = null
    this.front = answer.said.coherence === null || answer.said.consistency !== null ? 'coherence' : 'consistency'
    this.comment.value = answer.said.comment
    this.draw()
  }

  draw() {
    const { answer } = this
    fill(this.questions, answer.pair ? this.#choices() : this.rubric.scales.map((scale) => this.#scale(scale)))
    this.#say()
    this.save.disabled = !answer.complete
  }

  /** What became of it: "saved", "not saved", or nothing. */
  tell(text, look = false) {
    this.state.textContent = text
    this.state.classList.toggle('look', look)
  }

  #scale(scale) {
    const said = this.answer.said[scale.key]
    const anchors = [
      ...scale.anchors.map((one) => ({ ...one, value: one.score, key: String(one.score) })),
      { ...this.rubric.cannot_tell, value: CANNOT_TELL, key: 't' },
    ]
    return h(
      `div.scale${this.front === scale.key ? '.front' : ''}`,
      { role: 'radiogroup', 'aria-label': scale.title, 'data-scale': scale.key },
      h(
        'button.title',
        {
          type: 'button',
          tabIndex: -1,
          title: scale.question,
          onMousedown: stayThere,
          onClick: () => this.on.onFront(scale.key),
          ...this.#about(scale.question),
        },
        scale.title,
      ),
      anchors.map((one) =>
        this.#option({ ...one, chosen: said === one.value, act: () => this.on.onScore(scale.key, one.value) }),
      ),
    )
  }

  #choices() {
    return [
      h('p.question', {}, this.rubric.preference_question),
      h(
        'div.scale.choices',
        { role: 'radiogroup', 'aria-label': this.rubric.preference_question },
        this.rubric.choices.map((one, at) =>
          this.#option({
            ...one,
            key: String(at + 1),
            chosen: this.answer.said.preference === one.key,
            act: () => this.on.onChoose(one.key),
          }),
        ),
      ),
    ]
  }

  #option({ key, short, text, chosen, act }) {
    return h(
      `button.option${chosen ? '.chosen' : ''}`,
      {
        type: 'button',
        role: 'radio',
        'aria-checked': String(chosen),
        'aria-label': `${key}: ${short}. ${text}`,
        title: text,
        onMousedown: stayThere,
        onClick: act,
        ...this.#about(text, `${short}: `),
      },
      cap(key),
      h('span', {}, short),
    )
  }

  /** Words that are told as long as the pointer or the focus is there. */
  #about(text, name = '') {
    const over = () => {
      this.hovered = name + text
      this.#say()
    }
    const out = () => {
      this.hovered = null
      this.#say()
    }
    return { onMouseenter: over, onFocus: over, onMouseleave: out, onBlur: out }
  }

  #say() {
    this.words.textContent = this.hovered ?? this.#atRest()
  }

  #atRest() {
    if (this.answer.pair) return this.rubric.choices.find(({ key }) => key === this.answer.said.preference)?.text ?? ''
    return this.rubric.scales.find(({ key }) => key === this.front).question
  }
}

/** A click leaves the focus where it was, so that Enter goes on meaning "save and next". */
const stayThere = (event) => event.preventDefault()

export class Places {
  /** @param {{onOpen: (token: string) => void, onSession: (at: number) => void, onSessions: (() => void) | null}} callbacks */
  constructor(root, callbacks) {
    this.root = root
    this.on = callbacks
  }

  /** @param {Object[]} work  sessions as the server lists them; `at`: the one shown; `token`: the place in front */
  draw(work, at, token) {
    const session = work[at]
    const { places } = session
    const done = places.filter((place) => place.answered).length
    fill(
      this.root,
      h(
        'div.queue-title',
        {},
        h('div.top', {}, h('strong', {}, 'Blind scoring')),
        work.length > 1 &&
          h(
            'select.which',
            { 'aria-label': 'Session', onChange: (event) => this.on.onSession(Number(event.target.value)) },
            work.map((one, index) => h('option', { value: index, selected: index === at }, `Session ${one.session}`)),
          ),
        h(
          'div.bar',
          { role: 'progressbar', 'aria-valuenow': done, 'aria-valuemax': places.length, 'aria-label': 'answered' },
          h('span', { style: `width:${(100 * done) / places.length}%` }),
        ),
        h('div.muted.done', {}, `${done} of ${places.length} answered`),
      ),
      h(
        'div.rows.places',
        {},
        ['scores', 'pair'].map((kind) => this.#group(kind, places, token)),
      ),
      this.on.onSessions && h('button.to-sessions', { type: 'button', onClick: this.on.onSessions }, 'Set up sessions'),
    )
    this.root.querySelector('.current')?.scrollIntoView({ block: 'nearest' })
  }

  #group(kind, places, token) {
    const ofKind = places.filter((place) => place.kind === kind)
    if (!ofKind.length) return null
    return [
      h('h3', {}, kind === 'pair' ? 'Which is better' : 'Score'),
      h(
        'div.grid',
        {},
        ofKind.map((place) =>
          h(
            `button.place${place.answered ? '.answered' : ''}${place.token === token ? '.current' : ''}`,
            {
              type: 'button',
              'aria-label': `${place.place}${place.answered ? ', answered' : ''}`,
              'aria-current': String(place.token === token),
              onClick: () => this.on.onOpen(place.token),
            },
            String(place.place),
          ),
        ),
      ),
    ]
  }
}

export function openRubric(keys, rubric) {
  return openPanel(
    'Keys and rubric',
    h(
      'div',
      {},
      rubric &&
        h(
          'div.rubric',
          {},
          rubric.scales.map(scaleWords),
          choiceWords(rubric),
          h('p.muted', {}, rubric.note, ` Rubric ${rubric.version}.`),
        ),
      keys.sheet(),
    ),
    { wide: true },
  )
}

const scaleWords = (scale) =>
  h(
    'section',
    {},
    h('h3', {}, scale.title),
    h('p', {}, scale.question),
    h(
      'dl',
      {},
      scale.anchors.map((one) => [
        h('dt', {}, cap(String(one.score))),
        h(
          'dd',
          {},
          h('strong', {}, one.short),
          one.published && h('span.pill', { title: 'this anchor is the published one' }, 'published'),
          ' ',
          one.text,
        ),
      ]),
    ),
  )

const choiceWords = ({ preference_question: question, choices, cannot_tell: cannotTell }) =>
  h(
    'section',
    {},
    h('h3', {}, 'Which is better'),
    h('p', {}, question),
    h(
      'dl',
      {},
      choices.map((one, at) => [
        h('dt', {}, cap(String(at + 1))),
        h('dd', {}, h('strong', {}, one.short), ' ', one.text),
      ]),
    ),
    h('h3', {}, 'Either scale'),
    h('dl', {}, h('dt', {}, cap('t')), h('dd', {}, h('strong', {}, cannotTell.short), ' ', cannotTell.text)),
  )
