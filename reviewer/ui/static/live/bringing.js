// What comes on the bench and goes off it.

import { getJSON, postJSON, remove } from '../common/http.js'
import { findInLibrary, pickFromLibrary } from './library.js'

export class Bringing {
  /** @param desk  the Live page */
  constructor(desk) {
    this.desk = desk
  }

  /** The bench as the server has it, each row's last run found again. */
  async load() {
    const { bench, runs } = this.desk
    bench.show(await getJSON('/api/live/bench'))
    // A run that is not kept any more leaves its row as one that was not asked about.
    await Promise.all(
      bench.rows.filter((row) => row.runs.length).map((row) => runs.find(row.runs.at(-1)).catch(() => null)),
    )
    bench.draw()
  }

  /** Files have been read: the first is put in front, unless somebody watches a run. */
  added(rows) {
    if (this.desk.shownRun?.state === 'running') this.desk.bench.draw()
    else this.desk.select(rows[0].id)
  }

  async takeOff(id) {
    const { bench } = this.desk
    const at = bench.rows.findIndex((row) => row.id === id)
    try {
      await remove(`/api/live/bench/${id}`)
      bench.show(bench.rows.filter((row) => row.id !== id))
      if (bench.row(bench.current)) return
      const next = bench.rows[Math.min(at, bench.rows.length - 1)]
      if (next) await this.desk.select(next.id)
      else this.desk.showEmpty()
    } catch (error) {
      this.desk.tell(error)
    }
  }

  /** Let the person pick a spectrum of the library, and the question it is there for. */
  async fromLibrary() {
    const picked = await pickFromLibrary(this.desk.me.tasks)
    if (picked) await this.#take(picked)
  }

  async tryOne() {
    try {
      const [first] = await findInLibrary('', 1)
      if (first) await this.#take(first)
      else this.desk.notice('The library holds no spectra yet. Drop a file on the page instead.')
    } catch (error) {
      this.desk.tell(error)
    }
  }

  async #take({ item, task }) {
    const { bench, bar, me } = this.desk
    try {
      const made = await postJSON('/api/live/bench', { item })
      if (!bench.row(made.id)) bench.show([...bench.rows, made])
      if (task in me.tasks) bar.setTask(task)
      await this.desk.select(made.id)
    } catch (error) {
      this.desk.tell(error)
    }
  }
}
