// Who can be asked, and whether they are well: asked while somebody looks at the tab, never otherwise.

import { fill, h, withCommands } from '../common/dom.js'
import { getJSON } from '../common/http.js'
import { Menu } from './menu.js'

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
