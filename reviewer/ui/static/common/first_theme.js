// Set the dark or light theme before anything is painted: in the page's head, where there is no body yet, and again
// after Gradio has built its page and chosen a theme itself.
{
  const night = matchMedia('(prefers-color-scheme: dark)').matches
  /** @type {string | null} */
  let kept = null
  try {
    kept = localStorage.getItem('so-theme')
  } catch {
    /* a browser without storage */
  }
  document.documentElement.dataset.theme = kept ?? (night ? 'dark' : 'light')
  document.body?.classList.toggle('dark', document.documentElement.dataset.theme === 'dark')
}
