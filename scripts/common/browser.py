"""browser.py - a page as a browser leaves it after its scripts ran, for tests."""

import shutil
import subprocess
import tempfile

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or \
    shutil.which("google-chrome")


def browse(path, width=1200):
    """The document of a file or an address, in a window of that width."""
    profile = tempfile.mkdtemp(prefix="pfs-chromium-")
    try:
        return subprocess.run(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-background-networking", "--virtual-time-budget=5000",
             "--allow-file-access-from-files", f"--window-size={width},900",
             f"--user-data-dir={profile}", "--dump-dom",
             path if "://" in path else "file://" + path],
            capture_output=True, text=True, timeout=120, check=False).stdout
    finally:
        shutil.rmtree(profile, ignore_errors=True)
