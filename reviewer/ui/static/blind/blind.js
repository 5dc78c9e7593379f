// The Blind tab: the scoring page for scorers, and the sessions page for coordinators.

import { fill, h } from '../common/dom.js'
import { getJSON } from '../common/http.js'
import { outbox } from '../status/outbox.js'
import { plotlyReady } from '../common/plotly_ready.js'
import { whenBack } from '../common/tabs.js'
import { ScoringPage } from './scoring.js'
import { BlindSessions } from './sessions.js'

/** Build the tab inside `root`, at the first sheet without an answer. */
export async function mountBlind(root) {
  if (!root || root.dataset.mounted) return
  root.dataset.mounted = 'yes'
  const [me, keymap] = await Promise.all([getJSON('/api/v1/me'), getJSON('/ui/blind/keymap.json'), plotlyReady()])
  const tab = new BlindTab(root, me, keymap)
  await tab.start()
  window.specO3 = { ...window.specO3, blind: tab }
}

class BlindTab {
  constructor(root, me, keymap) {
    const coordinates = me.roles.includes('coordinator')
    const places = { scoring: h('div'), sessions: h('div', { hidden: true }) }
    fill(root, places.scoring, places.sessions)
    this.places = places
    this.scoring = new ScoringPage(places.scoring, {
      me,
      keymap,
      onSessions: coordinates ? () => this.show('sessions') : null,
    })
    this.sessions = coordinates ? new BlindSessions(places.sessions, { onScore: () => this.show('scoring') }) : null
    whenBack(root, () => this.refresh())
    outbox.addEventListener('sent', (event) => {
      const { entry } = /** @type {CustomEvent} */ (event).detail
      if (entry.restored && entry.kind === 'score') this.scoring.sentLate(entry)
    })
  }

  async start() {
    const work = await this.refresh()
    if (this.sessions && !work?.length) await this.show('sessions')
  }

  /** Load the sessions again: one may have been opened or closed meanwhile. */
  async refresh() {
    try {
      const work = await getJSON('/api/v1/blind/work')
      await this.scoring.show(work)
      this.sessions?.setWork(work)
      return work
    } catch (error) {
      this.scoring.notices.error(error)
      return null
    }
  }

  /** Begin a session of the items of a list. @param {number} list */
  async newSession(list) {
    await this.show('sessions')
    this.sessions?.form.useList(list)
  }

  async show(which) {
    for (const [name, place] of Object.entries(this.places)) place.hidden = name !== which
    await (which === 'sessions' ? this.sessions?.load() : this.refresh())
  }
}
