// What the Review tab does by itself: it starts, follows the address and the connection, sends what waits, and lets go
// of the item when the page is closed.

import { checkServer, getJSON, signIn } from '../common/http.js'
import { sentences, t } from '../common/language.js'
import { followLinks } from '../common/links.js'
import { whenBack } from '../common/tabs.js'
import { onTheme } from '../common/theme.js'
import { aboutOf, outbox } from '../status/outbox.js'
import { ConnectionStrip } from '../status/page_status.js'

export class Upkeep {
  /**
   * @param {Pick<import('./actions.js').Parts, 'root' | 'state' | 'notices' | 'view' | 'queue' | 'lease' |
   *   'navigation' | 'bar' | 'tour'> & {recovery: import('./recovery.js').Recovery,
   *   topBar: import('../status/page_status.js').TopBar, isActive: () => boolean}} parts `isActive`: whether the tab
   *   is in front and no dialog over it
   */
  constructor(parts) {
    const { bar, lease, navigation, notices, queue, recovery, root, state, view } = parts
    this.parts = parts
    const report = (/** @type {unknown} */ error) => notices.error(error)
    outbox.addEventListener('sent', (event) => {
      const { entry, body } = /** @type {CustomEvent} */ (event).detail
      if (entry.restored) this.#sentLate(entry, body).catch(report)
    })
    outbox.addEventListener('refused', (event) => {
      const { entry } = /** @type {CustomEvent} */ (event).detail
      notices.toast(sentences(t('{what}: not accepted.', { what: aboutOf(entry) }), entry.refused))
    })
    outbox.begin(state.me.initials, lease)
    root.addEventListener('pointerdown', ({ target }) => {
      if (!(target instanceof Node && bar.root.contains(target))) state.seeRound()
    })
    onTheme((theme) => view.spectrum.setTheme(theme))
    followLinks({
      onItem: (link) => navigation.follow(link).catch(report),
      onBatch: (batch) => navigation.showFilter({ batch }).catch(report),
    })
    new ConnectionStrip(state.me, () => this.#reconnected())
    whenBack(root, () => queue.refresh().catch(() => {})) // the connection strip shows that the server does not answer
    addEventListener('beforeunload', (event) => {
      if (recovery.onlyOnPage || outbox.onlyOnPage) event.preventDefault()
      lease.release(navigation.leave())
    })
    document.addEventListener('visibilitychange', () => (document.hidden ? state.draft?.flush() : lease.renew()))
  }

  async start() {
    const { isActive, navigation, notices, queue, state, tour } = this.parts
    const { backups, clock, problems } = state.me
    try {
      await navigation.start()
      queue.check().catch(() => {}) // what waits in the other tabs
      const leftOut = problems.length && t('Task files left out: {problems}', { problems: problems.join(' · ') })
      const warnings = [clock, backups, leftOut].filter(Boolean).join(' · ')
      if (warnings) notices.show(warnings)
      if (isActive() && state.current) tour.startOnce()
    } catch (error) {
      notices.error(error)
    }
  }

  /** The server answers this person again: send what is unsent, and request a lease that has run out or is missing. */
  #reconnected() {
    const { lease, recovery, state } = this.parts
    recovery.flush()
    if (!state.current) this.start()
    else if (state.dirty && !lease.held && !lease.heldByOther) lease.want()
    else lease.renew()
  }

  /**
   * Something that an earlier page had left was sent: no other part of this page knows of it.
   * @param {import('../status/outbox.js').Entry} entry @param {Record<string, any>} body
   */
  async #sentLate({ item, kind, name, version }, body) {
    const { navigation, notices, queue, recovery, state } = this.parts
    if (item === null) return
    if (kind === 'decision' && version) recovery.forgetComment(item, version.id, body.comment)
    state.itemChanged(item)
    notices.toast(t('#{item} {name}: sent.', { item, name }))
    await queue.refresh()
    if (state.isShown(item)) await navigation.refresh()
  }

  /**
   * The person has set a password, which ended their session: sign in with it.
   * @param {string} initials @param {string} password
   */
  async signInAgain(initials, password) {
    const { state, topBar } = this.parts
    try {
      await signIn(initials, password)
      Object.assign(state.me, await getJSON('/api/v1/me'))
      topBar.setPerson(state.me)
    } catch {
      checkServer() // nobody is signed in: the strip says so
    }
  }
}
