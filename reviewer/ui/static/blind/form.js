// The bar below a sheet: two scales with every anchor in words, or the choice between two traces; a comment; save.

import { CANNOT_TELL } from './answer.js'
import { cap, fill, h } from '../common/dom.js'

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
