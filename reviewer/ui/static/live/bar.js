// The bar of the Live tab, where the decision bar is in Review: what is asked of whom, run and stop, and what is done
// with the trace.

import { lasting } from '../common/browser_storage.js'
import { cap, fill, h, withCommands } from '../common/dom.js'
import { getJSON } from '../common/http.js'

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

const KEPT = 'so-live-options'

/** name, label, title, and what the server does where it is left empty. */
const SETTINGS = [
  {
    name: 'temperature',
    label: 'Temperature',
    min: 0,
    max: 2,
    step: 0.1,
    empty: "the server's; several: 1",
    title: '0 takes the likeliest word each time',
  },
  {
    name: 'seed',
    label: 'Seed',
    min: 0,
    max: 2 ** 31 - 1,
    step: 1,
    empty: "the server's choice",
    title: 'the same seed, model and server say the same again; sample 2 has the next seed',
  },
  {
    name: 'max_tokens',
    label: 'Tokens a turn',
    min: 1,
    max: 32768,
    step: 1,
    empty: '2048',
    title: 'a turn is cut after so many',
  },
  {
    name: 'max_turns',
    label: 'Turn limit',
    min: 1,
    max: 32,
    step: 1,
    empty: '8',
    title: 'turns of the agent; the call of the last one is not run',
  },
]

/** What was chosen last. */
export const remembered = () => ({ samples: 1, settings: {}, ...lasting.read(KEPT) })

export const remember = (options) => lasting.set(KEPT, JSON.stringify(options))

/** The fields of the settings sheet. `change(name, number | undefined)` hears of each. */
export function settingFields(settings, change) {
  return SETTINGS.map(({ name, label, empty, title, ...range }) =>
    h(
      'label',
      { title },
      h('span', {}, label),
      h('input', {
        type: 'number',
        ...range,
        value: settings[name] ?? '',
        placeholder: empty,
        onChange: (event) => {
          const usable = event.target.value !== '' && event.target.checkValidity()
          event.target.setAttribute('aria-invalid', String(event.target.value !== '' && !usable))
          change(name, usable ? Number(event.target.value) : undefined)
        },
      }),
    ),
  )
}

/** "T 0.7 · 12 turns": the settings that are not left to the server. */
export const settingsText = ({ temperature, seed, max_tokens: tokens, max_turns: turns }) =>
  [
    temperature !== undefined && `T ${temperature}`,
    seed !== undefined && `seed ${seed}`,
    tokens !== undefined && `${tokens} tokens`,
    turns !== undefined && `${turns} turns`,
  ]
    .filter(Boolean)
    .join(' · ')

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

const EVERY = 10_000

export class Policies {
  /**
   * @param {{looking: () => boolean, onChoose: (key: string) => void}} options
   *   looking: whether somebody sees the tab
   */
  constructor({ looking, onChoose }) {
    this.looking = looking
    this.all = []
    this.health = null
    this.select = h('select', {
      'aria-label': 'Who is asked',
      title: 'who is asked',
      onChange: () => this.#chosen(onChoose),
    })
    this.words = h('button.health', { type: 'button' })
    this.menu = new Menu(this.words, 'The server', () => this.#facts())
    this.root = h('span.policy', {}, this.select, this.menu.root)
    setInterval(() => this.looking() && this.look(), EVERY)
  }

  /** @param {string} [wanted]  the key to choose, if there is such a policy */
  async load(wanted) {
    this.all = await getJSON('/api/live/policies')
    fill(
      this.select,
      this.all.map(({ key, title }) => h('option', { value: key }, title)),
    )
    this.select.value = this.all.some(({ key }) => key === wanted) ? wanted : this.all[0].key
    this.select.title = this.chosen.note || 'who is asked'
    this.look()
  }

  get chosen() {
    return this.all.find(({ key }) => key === this.select.value) ?? null
  }

  titleOf = (key) => this.all.find((policy) => policy.key === key)?.title ?? key

  #chosen(onChoose) {
    this.health = null
    this.select.title = this.chosen.note || 'who is asked'
    this.#draw()
    this.look()
    onChoose(this.select.value)
  }

  async look() {
    const asked = this.select.value
    if (!asked) return
    let health
    try {
      health = await getJSON(`/api/live/health?${new URLSearchParams({ policy: asked })}`)
    } catch (error) {
      health = { ok: false, sentence: `It is not known how it is: ${error.message}` }
    }
    if (asked !== this.select.value) return
    this.health = health
    this.#draw()
    if (this.menu.isOpen) this.menu.redraw()
  }

  #draw() {
    const { health } = this
    const key = JSON.stringify(health)
    if (key === this.drawn) return
    this.drawn = key
    this.words.className = `health ${health === null ? 'unknown' : health.ok ? 'well' : 'ill'}`
    this.words.title = health?.sentence ?? ''
    fill(this.words, h('span.dot'), h('span.words', {}, inWords(health)))
  }

  #facts() {
    const { health, chosen } = this
    if (!health) return h('p', {}, 'Asking …')
    const rows = [
      ['model', health.model],
      ['server', health.server],
      ['version', health.version],
      ['context', health.context && `${health.context} tokens`],
      ['running', health.running],
      ['waiting', health.waiting],
    ].filter(([, value]) => value !== null && value !== undefined && value !== '')
    return [
      h(`p${health.ok ? '' : '.bad'}`, {}, withCommands(health.sentence)),
      h(
        'dl',
        {},
        rows.map(([name, value]) => [h('dt', {}, name), h('dd', {}, String(value))]),
      ),
      chosen?.note && h('p.muted', {}, chosen.note),
    ]
  }
}

/** Which model on which server, and how busy; what to do where it is not well. */
function inWords(health) {
  if (health === null) return 'asking …'
  if (!health.ok) return withCommands(health.sentence)
  const busy =
    health.running || health.waiting ? `${health.running ?? 0} running, ${health.waiting ?? 0} waiting` : null
  return (
    [health.model, [health.server, health.version].filter(Boolean).join(' '), busy].filter(Boolean).join(' · ') ||
    health.sentence
  )
}
