// The panel "SAMP": TOPCAT, Aladin, SPLAT and DS9 on the person's machine receive the spectrum, list or position of
// what is in front; spectra and tables come from them; a row highlighted in either is shown in the other.

import { address } from '../common/address.js'
import { fill, h } from '../common/dom.js'
import { bodyOf } from '../common/filters.js'
import { number } from '../common/format.js'
import { getJSON, postForm, postJSON } from '../common/http.js'
import { t, tn } from '../common/language.js'
import { openItem } from '../common/links.js'
import { showError } from '../common/notices.js'
import { openPanel } from '../common/panels.js'
import { openTab } from '../common/tabs.js'
import { Hub } from './hub.js'

const EVERY = 1000 // ms between two requests for messages
const TABLE = 'table.load.votable'
const SPECTRUM = 'spectrum.load.ssa-generic'
const ROW = 'table.highlight.row'
const POINT = 'coord.pointAt.sky'
const VOTABLE = 'application/x-votable+xml'

export class Samp {
  /** @type {Hub | null} */
  #hub = null
  /** @type {{id: string, url: string, items: (number | null)[]}[]} tables that were sent or received */
  #tables = []
  /** The item that a program has highlighted: it is not told again. */
  #highlighted = 0
  #follows = false

  /**
   * @param {{state: import('../review/state.js').ReviewState, notices: import('../common/notices.js').Notices,
   *   queue: import('../review/queue.js').Queue}} parts
   */
  constructor({ state, notices, queue }) {
    this.state = state
    this.notices = notices
    this.queue = queue
    state.on('item', () => this.#hub && this.#itemOpened())
    addEventListener('pagehide', () => this.#hub?.disconnect().catch(() => {}))
  }

  /** The panel with all that SAMP can do here. */
  open() {
    const status = h('p', { role: 'status' })
    const problem = h('p.problem', { role: 'alert', hidden: true })
    const controls = h('div.fields')
    /** @param {() => Promise<string>} act @returns {() => Promise<void>} */
    const doing = (act) => async () => {
      problem.hidden = true
      try {
        fill(status, t('Waiting for the hub …'))
        fill(status, await act())
      } catch (error) {
        fill(status)
        showError(problem, error)
      }
      fill(controls, this.#controls(doing))
    }
    const about = t('SAMP connects this page with TOPCAT, Aladin, SPLAT and DS9 on your machine.')
    fill(controls, this.#controls(doing))
    if (this.#hub) doing(() => this.#connectedWith())()
    return openPanel('SAMP', h('div.samp', h('p.muted', about), status, problem, controls))
  }

  /** @param {(act: () => Promise<string>) => () => Promise<void>} doing */
  #controls(doing) {
    const button = (text, act, disabled = false) => h('button', { onClick: doing(act), disabled }, text)
    if (!this.#hub) {
      const note = t('A hub may ask you to allow it. TOPCAT and Aladin bring one.')
      return [
        h(
          'div.controls',
          button(t('Connect'), () => this.#connect()),
        ),
        h('p.muted', note),
      ]
    }
    const { current } = this.state
    const { total } = this.queue
    const onChange = ({ target }) => {
      this.#follows = target.checked
      if (this.#follows) this.#point().catch(() => {})
    }
    const isFollowing = h('input', { type: 'checkbox', checked: this.#follows, onChange })
    return [
      h(
        'div.controls',
        button(t('Send the spectrum'), () => this.#sendSpectrum(), !current?.spectrum),
        button(
          tn('Send the list ({n} item)', 'Send the list ({n} items)', total, { n: number(total) }),
          () => this.#sendTable(),
          !total,
        ),
        button(t('Point at the object'), () => this.#point(), !current),
        button(t('Disconnect'), () => this.#disconnect()),
      ),
      h('label', isFollowing, ' ', t('point at each object that I open')),
    ]
  }

  async #connect() {
    this.#hub = await Hub.connect([TABLE, SPECTRUM, ROW])
    this.#listen(this.#hub)
    return this.#connectedWith()
  }

  async #connectedWith() {
    const names = (await this.#hub?.programs()) ?? []
    return names.length
      ? t('Connected with {programs}.', { programs: names.join(', ') })
      : t('Connected; no program yet.')
  }

  async #disconnect() {
    const hub = this.#hub
    this.#hub = null
    this.#tables = []
    await hub?.disconnect()
    return t('Disconnected.')
  }

  // ---- to other programs

  /** @param {import('./hub.js').Message} message @param {string} nobody what is said if no program understands it */
  async #send(message, nobody) {
    const names = (await this.#hub?.send(message)) ?? []
    return names.length ? t('Sent to {programs}.', { programs: names.join(', ') }) : nobody
  }

  async #sendSpectrum() {
    const { path, name } = await postJSON(`/api/v1/samp/spectrum/${this.state.item?.id}${this.#query}`, {})
    const meta = { 'Access.Format': VOTABLE, 'Access.Reference': address(path), 'Target.Name': name }
    const params = { url: address(path), meta, 'spectrum-id': path, name }
    return this.#send({ mtype: SPECTRUM, params }, t('No program takes spectra: is SPLAT running?'))
  }

  async #sendTable() {
    const { path, name, items } = await postJSON(`/api/v1/samp/table${this.#query}`, bodyOf(this.state.filter))
    this.#tables.push({ id: path, url: address(path), items })
    const params = { url: address(path), 'table-id': path, name }
    return this.#send({ mtype: TABLE, params }, t('No program takes tables: is TOPCAT running?'))
  }

  async #point() {
    const { ra, dec } = await getJSON(`/api/v1/samp/position/${this.state.item?.id}${this.#query}`)
    if (ra === null || dec === null) return t('No position is known of this object.')
    const params = { ra: String(ra), dec: String(dec) }
    return this.#send({ mtype: POINT, params }, t('No program shows the sky: is Aladin running?'))
  }

  get #query() {
    return this.state.verdictFirst ? '?verdict_first=true' : ''
  }

  /** Highlight the row of the item that was opened, in each table that has it. */
  #itemOpened() {
    const id = this.state.item?.id
    if (id === undefined || id === this.#highlighted) return
    this.#highlighted = id
    const tables = this.#tables.filter(({ items }) => items.includes(id))
    const rows = tables.map(({ id: table, url, items }) => ({ 'table-id': table, url, row: String(items.indexOf(id)) }))
    const sent = rows.map((params) => this.#hub?.send({ mtype: ROW, params }))
    const pointed = this.#follows && this.#point()
    Promise.all([...sent, pointed]).catch((error) => this.#lost(error))
  }

  // ---- from other programs

  /** Receive messages until the connection ends. @param {Hub} hub */
  async #listen(hub) {
    while (this.#hub === hub) {
      try {
        for (const message of await hub.received()) this.#receive(message)
      } catch (error) {
        if (this.#hub === hub) this.#lost(error)
      }
      await new Promise((resolve) => setTimeout(resolve, EVERY))
    }
  }

  /** @param {any} error */
  #lost(error) {
    this.#hub = null
    this.#tables = []
    this.notices.error(error)
  }

  /** @param {import('./hub.js').Message & {from: string}} message */
  #receive({ from, mtype, params }) {
    if (mtype === ROW) return this.#rowHighlighted(params)
    const name = String(params.name || params.url || '').slice(0, 80)
    const offers = {
      [SPECTRUM]: {
        text: t('{program} sends the spectrum “{name}”.', { program: from, name }),
        label: t('Put it on the Live bench'),
        take: () => this.#takeSpectrum(params, name),
      },
      [TABLE]: {
        text: t('{program} sends the table “{name}”.', { program: from, name }),
        label: t('Find its objects here'),
        take: () => this.#takeTable(params, name),
      },
    }
    if (!Object.hasOwn(offers, mtype)) return
    const offer = offers[mtype]
    const onClick = () => offer.take().catch((/** @type {any} */ error) => this.notices.error(error))
    this.notices.show(offer.text, { label: offer.label, onClick })
  }

  /** @param {Record<string, string>} params */
  #rowHighlighted({ 'table-id': id, url, row }) {
    const table = this.#tables.find((each) => (id ? each.id === id : each.url === url))
    const item = table?.items[Number(row)]
    if (!item || item === this.state.item?.id) return
    this.#highlighted = item
    openItem(item)
  }

  /** @param {Record<string, string>} params @param {string} name */
  async #takeSpectrum({ url }, name) {
    const form = await this.#fileOf(url, name, 'files')
    const { added, problems } = await postForm('/api/v1/live/files', form)
    if (problems.length) return this.notices.show(problems.join(' '))
    dispatchEvent(new CustomEvent('so-bench', { detail: added }))
    openTab('live')
  }

  /** Keep the items of a table as a list, and open it. @param {Record<string, string>} params @param {string} name */
  async #takeTable({ url, 'table-id': id }, name) {
    const form = await this.#fileOf(url, name, 'file')
    const { items } = await postForm(`/api/v1/samp/rows${this.#query}`, form)
    const known = [...new Set(items.filter((/** @type {number | null} */ item) => item !== null))]
    const rows = tn('{n} row', '{n} rows', items.length, { n: number(items.length) })
    if (!known.length) return this.notices.show(t('None of the {rows} is of an object here.', { rows }))
    this.#tables.push({ id, url, items })
    const view = await postJSON('/api/v1/views', { name: name.slice(0, 60), selection: { items: known } })
    location.hash = `view=${view.id}`
  }
  /** The file of a message, to be uploaded. @param {string} url @param {string} name @param {string} field */
  async #fileOf(url, name, field) {
    const form = new FormData()
    const file = await this.#hub?.fetch(url)
    if (file) form.append(field, file, url.split(/[?#]/)[0].split('/').at(-1) || name)
    return form
  }
}
