// The bar of the Live tab, where the decision bar is in Review: what is asked of whom, run and stop, and what is done
// with the trace.

import { cap, fill, h } from '../common/dom.js'
import { Menu } from './menu.js'
import { settingFields, settingsText } from './options.js'

const FIRST_QUESTION = 'cv' // until somebody chooses another

export class LiveBar {
  /**
   * @param {HTMLElement} root
   * @param {{tasks: Object, policies: Object, keys: Object, options: Object}} parts  `options` is changed in place
   * @param {{onPrimary, onSend, onOptions, downloads: () => Array<{text: string, url: string}>}} callbacks
   */
  constructor(root, { tasks, policies, keys, options }, callbacks) {
    this.on = callbacks
    this.keys = keys
    this.options = options
    this.policies = policies
    this.primary = h('button.primary.run', { type: 'button', onClick: () => this.on.onPrimary() })
    this.task = h(
      'select',
      { 'aria-label': 'Question', title: 'the question', onChange: () => this.#changed({ task: this.task.value }) },
      Object.entries(tasks).map(([key, { title }]) => h('option', { value: key }, title)),
    )
    if (!(options.task in tasks)) options.task = FIRST_QUESTION in tasks ? FIRST_QUESTION : Object.keys(tasks)[0]
    this.samples = h('input.samples', {
      type: 'number',
      min: 1,
      max: 16,
      step: 1,
      'aria-label': 'Samples',
      onChange: () => this.#samplesChanged(),
    })
    this.many = h('label.many', {}, this.samples, ' ', (this.manyWord = h('span')))
    this.settings = h('button.settings', { type: 'button', title: 'temperature, seed, limits' })
    this.send = h('button.send', { type: 'button', onClick: () => this.on.onSend() })
    this.load = h('button.download', { type: 'button', title: 'keep what is shown' }, 'Download ▾')
    const settings = new Menu(this.settings, 'Settings of a run', () =>
      h(
        'div.fields',
        {},
        h('h3', {}, 'Left empty, a field is the default'),
        settingFields(options.settings, (name, value) => this.#setting(name, value)),
      ),
    )
    const downloads = new Menu(this.load, 'Downloads', () =>
      this.on
        .downloads()
        .map(({ text, what, url }) =>
          h('a.option', { href: url, download: '', onClick: () => downloads.close() }, text, h('span.muted', {}, what)),
        ),
    )
    for (const menu of [settings, downloads]) menu.root.classList.add('right')
    fill(root, this.primary, this.task, policies.root, this.many, settings.root, this.send, downloads.root)
    for (const select of root.querySelectorAll('select')) select.addEventListener('change', () => letGo(select))
    this.draw({ run: null, row: null })
  }

  setTask(key) {
    this.options.task = this.task.value = key
    this.on.onOptions()
  }

  /** @param {{run: Object|null, row: Object|null, going: number, stopping: boolean, sent: string|null, sendable: number}} state */
  draw({ run, row, stopping = false, sent = null, sendable = 0 }) {
    const key = JSON.stringify([
      run?.id,
      run?.state,
      row?.id,
      stopping,
      sent,
      sendable,
      this.options,
      this.policies.chosen,
    ])
    if (key === this.drawn) return
    this.drawn = key
    const going = run?.state === 'running'
    this.primary.disabled = (!row && !going) || stopping
    this.primary.classList.toggle('stop', going)
    fill(
      this.primary,
      going
        ? [stopping ? 'Stopping …' : 'Stop ', !stopping && cap(this.keys.of('stop'))]
        : [run ? 'Again ' : 'Run ', cap(this.keys.of('run'))],
    )
    this.task.value = this.options.task
    this.task.title = this.task.selectedOptions[0]?.textContent ?? ''
    const alike = this.policies.chosen?.samples_ok === false
    this.samples.value = alike ? 1 : this.options.samples
    this.samples.disabled = alike
    this.many.title = alike
      ? 'This policy says the same each time: one sample is enough.'
      : 'independent samples of the same spectrum, for a vote (1 to 16)'
    fill(this.manyWord, Number(this.samples.value) === 1 ? 'sample' : 'samples')
    fill(this.settings, '⚙', h('span', {}, settingsText(this.options.settings)))
    this.settings.setAttribute('aria-label', 'Settings')
    this.send.disabled = sent !== null || sendable === 0
    fill(
      this.send,
      sent ?? (sendable > 1 ? `Send all ${sendable} to review ` : 'Send to review '),
      sent === null && cap(this.keys.of('send')),
    )
    this.load.disabled = !run
  }

  /** How many samples are to be asked for. */
  get wanted() {
    return this.policies.chosen?.samples_ok === false ? 1 : this.options.samples
  }

  #samplesChanged() {
    const typed = Math.round(Number(this.samples.value))
    this.#changed({ samples: Number.isFinite(typed) ? Math.max(1, Math.min(16, typed)) : 1 })
  }

  #setting(name, value) {
    if (value === undefined) delete this.options.settings[name]
    else this.options.settings[name] = value
    this.#changed({})
  }

  #changed(change) {
    Object.assign(this.options, change)
    this.on.onOptions()
  }
}

/** Chosen with the mouse, a list gives the keyboard back; whoever walks it by keys stays in it. */
function letGo(select) {
  if (!select.matches(':focus-visible')) select.blur()
}
