// Set the dark or light theme before anything is painted: in the page's head, where there is no body yet, and again
// after Gradio has built its page and chosen a theme itself. Until the person chooses one, it is the system's, also
// when the system changes in the evening.
{
  const night = matchMedia('(prefers-color-scheme: dark)')
  const apply = () => {
    /** @type {string | null} */
    let kept = null
    try {
      kept = localStorage.getItem('so-theme')
    } catch {
      /* a browser without storage */
    }
    document.documentElement.dataset.theme = kept ?? (night.matches ? 'dark' : 'light')
    document.body?.classList.toggle('dark', document.documentElement.dataset.theme === 'dark')
  }
  apply()
  // Gradio's own listener sets the class of the body by the system alone; this one comes after it.
  if (document.body) night.addEventListener('change', () => setTimeout(apply))
}
