"""The page: tabs and forms. The only package that imports gradio."""
