// The browser's own storage. It may be full, or forbidden to this site: then a text lives as long as the page does,
// nothing breaks, and whoever keeps is told so.

class Storage {
  /** @param {() => globalThis.Storage} place  asked each time: where storage is forbidden, even naming it raises */
  constructor(place) {
    this.place = place
    this.onPage = new Map() // what the browser would not take
    this.tooLong = Infinity // the shortest text that was not taken, until one as long is
  }

  get(name) {
    if (this.onPage.has(name)) return this.onPage.get(name)
    try {
      return this.place().getItem(name)
    } catch {
      return null
    }
  }

  /** Keep a text; false where the browser would not, and it is kept on the page alone. */
  set(name, text) {
    try {
      this.place().setItem(name, text)
      this.onPage.delete(name)
      if (text.length >= this.tooLong) this.tooLong = Infinity
      return true
    } catch {
      this.#drop(name) // an older text under this name would be found instead
      this.onPage.set(name, text)
      this.tooLong = Math.min(this.tooLong, text.length)
      return false
    }
  }

  /** Whether what was kept last of its length was not taken: texts of that length live on the page alone. */
  get refused() {
    return this.tooLong < Infinity
  }

  remove(name) {
    this.onPage.delete(name)
    this.#drop(name)
  }

  #drop(name) {
    try {
      this.place().removeItem(name)
    } catch {
      // nothing was kept
    }
  }

  /** What was kept as JSON; null where there is none, or none that can be read. */
  read(name) {
    try {
      return JSON.parse(this.get(name))
    } catch {
      return null
    }
  }

  names(prefix) {
    return [...this.onPage.keys(), ...this.#stored()].filter((name) => name.startsWith(prefix))
  }

  #stored() {
    try {
      return Object.keys(this.place())
    } catch {
      return []
    }
  }
}

/** Until somebody clears it. */
export const lasting = new Storage(() => localStorage)

/** As long as this browser tab is open, reloads included. */
export const thisTab = new Storage(() => sessionStorage)
