"""Drives a headless Chromium over its DevTools pipe, as
https://chromedevtools.github.io/devtools-protocol/ has it.

Messages are JSON ended by a zero octet, on file descriptors 3 (to it) and 4 (from it). Everything
that the page wrote to its console and every request it made is kept. Used by check_page.py.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

KEYS = {'Tab': 9, 'Enter': 13, 'Escape': 27, 'End': 35, 'Home': 36, 'ArrowLeft': 37, 'ArrowUp': 38,
        'ArrowRight': 39, 'ArrowDown': 40}  # virtual key codes
FLAGS = ('--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run'
         ' --disable-background-networking --disable-sync --disable-component-update'
         ' --disable-default-apps --disable-extensions --hide-scrollbars --remote-debugging-pipe'
         # Nothing of a page that was left stays, and no process waits for one that may be opened: work for nobody.
         ' --disable-back-forward-cache --disable-breakpad --num-raster-threads=1'
         ' --disable-features=SpareRendererForSitePerProcess,RenderDocument,OptimizationHints,Translate')


class Browser:
    def __init__(self, program='chromium', zone='UTC'):
        self.profile = tempfile.mkdtemp(prefix='easeswitch-browser.')
        to_read, self.to = os.pipe()
        self.answers, from_write = os.pipe()
        # Descriptors 3 and 4 may be in use here: they are put in place in the child.
        command = (f'exec 3<&{to_read} 4>&{from_write};'
                   f' exec {program} {FLAGS} --user-data-dir={self.profile} about:blank')
        self.process = subprocess.Popen(['bash', '-c', command], pass_fds=(to_read, from_write),
                                        env={**os.environ, 'TZ': zone}, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.buffer = b''
        self.serial = 0
        self.session = None
        self.console, self.requests = [], []
        self.headers = {}  # of the last request
        self.fake = None   # (status, body) of what answers in the server's place
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        attached = self.call('Target.attachToTarget', targetId=target, flatten=True)
        self.session = attached['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.call(domain + '.enable')

    def close(self):
        self.session = None
        try:
            self.call('Browser.close')
            self.process.wait(10)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait(10)
        shutil.rmtree(self.profile, ignore_errors=True)

    # ---- messages ----

    def _receive(self, deadline):
        while b'\0' not in self.buffer:
            if not select.select([self.answers], [], [], max(0, deadline - time.monotonic()))[0]:
                return None
            octets = os.read(self.answers, 1 << 20)
            if not octets:
                raise RuntimeError('the browser ended')
            self.buffer += octets
        message, self.buffer = self.buffer.split(b'\0', 1)
        message = json.loads(message)
        self._note(message)
        return message

    def _note(self, message):
        method, said = message.get('method'), message.get('params', {})
        if method == 'Runtime.consoleAPICalled' and said['type'] in ('error', 'warning', 'assert'):
            values = (a.get('value', a.get('description')) for a in said['args'])
            self.console.append(' '.join(str(value) for value in values))
        elif method == 'Runtime.exceptionThrown':
            details = said['exceptionDetails']
            self.console.append(details.get('exception', {}).get('description') or details['text'])
        elif method == 'Log.entryAdded' and said['entry']['level'] in ('error', 'warning'):
            self.console.append(said['entry']['text'] + ' ' + said['entry'].get('url', ''))
        elif method == 'Network.requestWillBeSent':
            self.requests.append(said['request']['url'])
            self.headers = said['request']['headers']
        elif method == 'Fetch.requestPaused' and self.fake:
            status, body = self.fake
            self._send('Fetch.fulfillRequest', requestId=said['requestId'], responseCode=status,
                       body=base64.b64encode(body.encode()).decode())

    def _send(self, method, **parameters):
        self.serial += 1
        message = {'id': self.serial, 'method': method, 'params': parameters}
        if self.session:
            message['sessionId'] = self.session
        octets = json.dumps(message).encode() + b'\0'
        while octets:
            octets = octets[os.write(self.to, octets):]
        return self.serial

    def call(self, method, **parameters):
        serial = self._send(method, **parameters)
        deadline = time.monotonic() + 30
        while True:
            answer = self._receive(deadline)
            if answer is None:
                raise RuntimeError(method + ': no answer')
            if answer.get('id') == serial:
                if 'error' in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer['result']

    # ---- what a test does ----

    def open(self, url):
        self.call('Page.navigate', url=url)

    def js(self, expression):
        """The value of an expression, awaited."""
        answer = self.call('Runtime.evaluate', expression=expression, awaitPromise=True,
                           returnByValue=True)
        if 'exceptionDetails' in answer:
            details = answer['exceptionDetails']
            raise RuntimeError(details.get('exception', {}).get('description', details['text']))
        return answer['result'].get('value')

    def wait(self, expression, seconds=15):
        """Until the expression is true; False if it does not become so."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                if self.js(f"Boolean({expression})"):
                    return True
            except RuntimeError:
                pass  # the document is just being replaced
            time.sleep(0.03)
        return False

    def size(self, width, height, mobile=False):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height,
                  deviceScaleFactor=1, mobile=mobile)

    def media(self, **features):
        self.call('Emulation.setEmulatedMedia',
                  features=[{'name': name.replace('_', '-'), 'value': value}
                            for name, value in features.items()])

    def key(self, name):
        """Presses one of KEYS."""
        text = {'text': '\r'} if name == 'Enter' else {}
        for kind, extra in (('keyDown', text), ('keyUp', {})):
            self.call('Input.dispatchKeyEvent', type=kind, key=name, code=name,
                      windowsVirtualKeyCode=KEYS[name], **extra)

    def answer(self, pattern, *fake):
        """Requests of such addresses get this status and body, or no answer if none is given, and
        do not reach the server."""
        self.fake = fake
        self.call('Fetch.enable', patterns=[{'urlPattern': pattern}])

    def answer_no_more(self):
        self.call('Fetch.disable')

    def click(self, x, y):
        for kind in ('mousePressed', 'mouseReleased'):
            self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, button='left', clickCount=1)

    def nameless(self):
        """What can be used and has no name for those who do not see it: its role and contents."""
        nodes = self.call('Accessibility.getFullAXTree')['nodes']
        used = ('button', 'link', 'textbox', 'searchbox', 'combobox', 'table', 'grid', 'region')
        return [node['role']['value'] for node in nodes if not node.get('ignored')
                and node['role']['value'] in used and not node.get('name', {}).get('value')]

    def screenshot(self, path):
        picture = self.call('Page.captureScreenshot', format='png')['data']
        with open(path, 'wb') as file:
            file.write(base64.b64decode(picture))
