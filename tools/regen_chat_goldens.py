#!/usr/bin/env python3
"""Regenerates tests/goldens/chat_template with Jinja itself (jinja2 3.1.6, Python 3.11).

Usage: regen_chat_goldens.py [--count N] [--seed N] [--out DIR]

features.json      single features, written by hand below
expressions.json   expressions generated at random
programs.json      whole templates generated at random
own-*.json         what the own-*.jinja beside them render for the conversations of conversations.json
The environment is the one that Hugging Face transformers renders chat templates with.
"""

import argparse
import datetime
import json
import random
from pathlib import Path

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

NOW = datetime.datetime(2024, 7, 26, 12, 34, 56)
HERE = Path(__file__).resolve().parent.parent / "tests" / "goldens" / "chat_template"


class Generation(Extension):
    """The tag `generation`, which prints its body."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        call = self.call_method("_render")
        return jinja2.nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _render(self, caller):
        return caller()


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols]
    )
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = NOW.strftime
    return env


ENV = environment()


def render(source, context):
    try:
        output = ENV.from_string(source).render(**json.loads(json.dumps(context)))
        output.encode()
    except Exception as error:  # noqa: BLE001 - whatever Python raises is the golden
        return {"error": type(error).__name__, "message": str(error)}
    return {"output": output}


CONTEXT = {
    "x": 7, "neg": -3, "zero": 0, "f": 2.5, "g": -0.75, "s": "Hello World", "e": "", "n": None, "t": True,
    "l": [3, 1, 2], "ls": ["b", "A", "a", "b"], "d": {"b": 1, "a": {"c": [1, 2]}, "items": "own"},
    "u": "Zoë 🙂 <b>&\"'", "w": "  pad\t\n", "lines": "one\ntwo\r\n\nthree\n", "mixed": [1, "a", None, 2.0, [], {}],
    "objs": [{"r": "x", "v": 1}, {"r": "Y", "v": 2}, {"r": "x", "v": 3}, {"v": 4}], "neg_zero": -0.0,
    "big": 12345678901234567890, "num": "42.75", "greek": "ὈΔΥΣΣΕΎΣ ΣΑΣ", "de": "straße ﬁx ǆ",
}

# One template each, with --- between them.
FEATURES = r'''
{{ x }}|{{ f }}|{{ s }}|{{ e }}|{{ n }}|{{ t }}|{{ l }}|{{ d }}|{{ neg_zero }}|{{ big }}
---
{{ big == 12345678901234567890.0 }}{{ big > x }}{{ big is integer }}{{ big is number }}{{ big | string | length }}{{ [big] | tojson }}{{ big | int }}{{ '%d' % big }}{{ big if big else 0 }}
---
{{ 1e16 }}|{{ 1e15 }}|{{ 123456789012345.678 }}|{{ 0.0001 }}|{{ 0.00001 }}|{{ 1e22 }}|{{ 1e23 }}|{{ 5e-324 }}|{{ 1.7976931348623157e308 }}|{{ 2.0 ** 0.5 }}
---
{{ 7 // 2 }}|{{ -7 // 2 }}|{{ 7 // -2 }}|{{ -7 % 3 }}|{{ 7 % -3 }}|{{ 7.5 // 2 }}|{{ -7.5 % 2 }}|{{ 7.5 % -2 }}|{{ 0.0 // 5 }}|{{ -1 // 3.0 }}
---
{{ 2 ** 10 }}|{{ 2 ** -2 }}|{{ (-2) ** 3 }}|{{ 2 ** 62 }}|{{ 0 ** 0 }}|{{ 2 ** 3 ** 2 }}|{{ -2 ** 2 }}|{{ true + true }}|{{ 3 - true }}
---
{{ 1 / 0 }}
---
{{ 1 % 0 }}
---
{{ 1.5 // 0 }}
---
{{ 0 ** -1 }}
---
{{ s + x }}
---
{{ x + s }}
---
{{ l + s }}
---
{{ -s }}
---
{{ s - 'a' }}
---
{{ missing + 1 }}
---
{{ 1 + missing }}
---
{{ missing ~ 'x' }}|{{ missing | upper }}|{{ missing | length }}|{{ missing | list }}|{{ missing | join }}|{{ missing == missing2 }}|{{ missing != 1 }}|{{ not missing }}
---
{{ missing < 1 }}
---
{{ missing.a }}
---
{{ missing['a'] }}
---
{{ missing() }}
---
{{ d.zz.yy }}
---
{{ d['zz']['yy'] }}
---
{{ l[9].a }}
---
{{ n.a }}|{{ n['a'] }}|{{ x.a }}|{{ x[0] }}|{{ l.a }}|{{ l['a'] }}|{{ s.a }}
---
{{ n.a.b }}
---
{{ x.a.b }}
---
{{ s.nope() }}
---
{{ d.items() | list }}|{{ d['items'] }}|{{ d.get('items') }}|{{ d.keys() }}|{{ d.values() }}|{{ d.items() }}
---
{{ d.clear() }}
---
{{ l.append(1) }}
---
{{ l.sort() }}
---
{{ l.append }}|{{ l.append is defined }}|{{ ''.__class__ }}|{{ d.__init__ is defined }}|{{ l.__len__ }}|{{ s._private is defined }}
---
{{ ''.__class__.__mro__ }}
---
{{ x() }}
---
{{ s() }}
---
{{ range(5) | list }}|{{ range(2, 5) | list }}|{{ range(5, 2, -1) | list }}|{{ range(3) }}|{{ range(1, 9, 4) }}|{{ range(9)[2:8:3] }}|{{ range(9)[::-1] }}|{{ range(9)[-2] }}|{{ range(3) | length }}|{{ 2 in range(3) }}|{{ range(0) | list }}|{{ range(3) == range(0, 3) }}
---
{{ range(100001) }}
---
{{ range(1, 5, 0) }}
---
{{ range('a') }}
---
{{ l[1:] }}|{{ l[-2:] }}|{{ l[::-1] }}|{{ l[5:] }}|{{ l[:-5] }}|{{ l[2:0:-1] }}|{{ s[6:] }}|{{ s[::-2] }}|{{ u[3:5] }}|{{ u[-1] }}|{{ ('a', 'b', 'c')[1:] }}|{{ l[none:2] }}|{{ l[true] }}|{{ s[:3][-1] }}
---
{{ l[::0] }}
---
{{ l['a':] }}
---
{{ x[1:] }}
---
{{ d[1:] }}
---
{{ d[l] is defined }}|{{ l[1.0] is defined }}|{{ d.a.c.0 }}|{{ l.0 }}|{{ l.9 is defined }}
---
{{ 1 < 2 < 3 }}|{{ 1 < 2 > 5 }}|{{ 1 == 1.0 == true }}|{{ [1, 2] < [1, 3] }}|{{ (1, 'a') == (1, 'a') }}|{{ [1] == (1,) }}|{{ {'a': 1} == {'a': 1.0} }}|{{ 'a' < 'b' }}|{{ 'Z' < 'a' }}|{{ 'a' == 1 }}|{{ none == none }}|{{ none == false }}
---
{{ 'a' < 1 }}
---
{{ [1] < (1,) }}
---
{{ none < 1 }}
---
{{ {} < {} }}
---
{{ 1 in 1 }}
---
{{ 1 in 'a1' }}
---
{{ 'a' in 'cat' }}|{{ 'a' in ['a'] }}|{{ 'a' in {'a': 1} }}|{{ '' in '' }}|{{ 1 in (1.0,) }}|{{ 5 not in l }}|{{ missing in l }}|{{ 'x' in missing }}|{{ none in [none] }}
---
{{ l in d }}
---
{{ 'a' 'b' "c" }}|{{ 'a\tb\x41\u00e9\101\'\"\\ \q' }}|{{ "multi
line" }}|{{ 'cont\
inued' }}|{{ '\U0001f642' }}
---
{{ 0x1F }}|{{ 0b101 }}|{{ 0o17 }}|{{ 1_000 }}|{{ 1.5e3 }}|{{ 1e-5 }}|{{ 00 }}|{{ 1_0.0_1 }}
---
{{ true }}|{{ True }}|{{ false }}|{{ none }}|{{ None }}|{{ not true }}|{{ not 0 }}
---
{{ t and 'a' or 'b' }}|{{ e or n or 'c' }}|{{ x and n }}|{{ 0 or '' or [] }}|{{ not t and f }}|{{ 'a' if t }}|{{ 'a' if e }}|{{ 'a' if e else 'b' if n else 'c' }}
---
{{ ('a' if e).x }}
---
{{ 1 ~ 2 + 3 }}
---
{{ 'a' ~ 1 ~ none ~ [1] ~ 2.0 }}|{{ 2 * 'ab' }}|{{ [0] * 3 }}|{{ (1,) * 2 }}|{{ 'a' * -1 }}|{{ [1] + [2] }}|{{ (1,) + (2,) }}
---
{{ [1, 'a', none, true, 2.0, {'k': [1]}, (1,), ()] }}|{{ "it's" }}|{{ ["it's", 'q"q', "b'\"", '\n\t\\', 'é🙂', '\x00\x7f\xa0​'] }}
---
{{ {'b': 1, 'a': 2, 'b': 3} }}|{{ {1: 'a', 1.0: 'b', true: 'c'} }}|{{ {none: 1, (1, 2): 2} }}|{{ {} }}|{{ {'a': 1,} }}|{{ [1,] }}|{{ (1,) }}|{{ 1, 2 }}
---
{{ {[1]: 2} }}
---
{{ {{}: 2} }}
---
{{ s | upper | lower | title }}|{{ "don't stop-me (now) [or] {ever} <x>" | title }}|{{ "don't stop".title() }}|{{ 'ǆ ß ﬁ' | title }}|{{ 'ǆß ﬁ'.title() }}|{{ 'HELLO wORLD' | capitalize }}|{{ 'ßa' | capitalize }}|{{ 'ΑΣ ΑΣΑ Σ' | lower }}|{{ 'İ'.lower() | length }}|{{ 'aBc'.swapcase() }}|{{ 'Straße'.casefold() }}
---
{{ 'a,b,,c'.split(',') }}|{{ ' a  b '.split() }}|{{ 'a-b-c'.split('-', 1) }}|{{ 'a-b-c'.rsplit('-', 1) }}|{{ ' a b c '.split(none, 1) }}|{{ ' a b c '.rsplit(none, 1) }}|{{ ''.split() }}|{{ ''.split(',') }}|{{ 'abc'.split('x') }}|{{ 'a b'.split(maxsplit=1) }}|{{ 'aXXb'.split('XX') }}
---
{{ 'a'.split('') }}
---
{{ lines.splitlines() }}|{{ lines.splitlines(true) }}|{{ 'a\x0bb\x0cc\x1cd\x85e\u2028f'.splitlines() }}|{{ ''.splitlines() }}|{{ '\n'.splitlines() }}
---
{{ 'xxaxx'.strip('x') }}|{{ 'abcba'.strip('ab') }}|{{ w.strip() }}|{{ '\u3000a\xa0'.strip() }}|{{ 'aéa'.strip('é') }}|{{ 'éaé'.strip('é') }}|{{ '  a'.lstrip() }}|{{ 'a\n\n'.rstrip('\n') }}|{{ 'abc'.strip('') }}
---
{{ s.startswith('He') }}|{{ s.startswith(('x', 'H')) }}|{{ s.startswith('W', 6) }}|{{ s.endswith('ld') }}|{{ s.endswith('lo', 0, 5) }}|{{ ''.startswith('') }}|{{ 'a'.startswith('', 5) }}|{{ s.startswith('') }}
---
{{ s.startswith(['H']) }}
---
{{ s.find('o') }}|{{ s.find('o', 5) }}|{{ s.rfind('o') }}|{{ s.find('zz') }}|{{ s.index('W') }}|{{ s.count('l') }}|{{ s.count('') }}|{{ u.find('🙂') }}|{{ u.rfind('b') }}|{{ s.find('', 20) }}|{{ s.find('l', -3) }}|{{ s.count('l', 0, 4) }}
---
{{ s.index('zz') }}
---
{{ s.replace('l', 'L') }}|{{ s.replace('l', 'L', 1) }}|{{ 'abc'.replace('', '-') }}|{{ ''.replace('', '-') }}|{{ 'aaa'.replace('aa', 'b') }}|{{ 'abc'.replace('b', '') }}|{{ s | replace('o', '0', 1) }}|{{ 5 | replace(5, 6) }}
---
{{ '-'.join(ls) }}|{{ ''.join('abc') }}|{{ ', '.join([]) }}|{{ '/'.join(('a', 'b')) }}|{{ '+'.join(d) }}
---
{{ '-'.join([1]) }}
---
{{ 'a'.center(5) }}|{{ 'ab'.center(5, '*') }}|{{ 'abc'.center(6, '.') }}|{{ 'a'.ljust(3, '-') }}|{{ 'a'.rjust(3) }}|{{ '-5'.zfill(5) }}|{{ 'a'.zfill(3) }}|{{ 'a\tb'.expandtabs(4) }}|{{ 'abc' | center(8) }}
---
{{ 'a=b=c'.partition('=') }}|{{ 'a=b=c'.rpartition('=') }}|{{ 'abc'.partition('=') }}|{{ 'abc'.rpartition('=') }}|{{ 'abcabc'.removeprefix('abc') }}|{{ 'abc'.removesuffix('bc') }}
---
{{ '12'.isdigit() }}|{{ '²'.isdigit() }}|{{ '²'.isdecimal() }}|{{ '½'.isnumeric() }}|{{ 'aé'.isalpha() }}|{{ 'a1'.isalnum() }}|{{ ' \t'.isspace() }}|{{ ''.isspace() }}|{{ 'Ab Cd'.istitle() }}|{{ 'abc'.isidentifier() }}|{{ '1a'.isidentifier() }}|{{ 'é'.isascii() }}|{{ 'a\n'.isprintable() }}|{{ '٣' | int }}
---
{{ '%s %d %.2f %5s|%-5s|%05d|%x|%X|%o|%e|%g|%c|%r|%%' | format('a', 3.9, 2.5, 'b', 'c', 42, 255, 255, 8, 12345.678, 0.00001, 'z', 'q') }}
---
{{ '%(a)s-%(b)d' % {'a': 'x', 'b': 2} }}|{{ '%(a)s' | format(a=1) }}|{{ '%s' % (1,) }}|{{ '%s' % [1, 2] }}|{{ '%s' % none }}|{{ '%s' % missing }}|{{ '%*d' % (5, 42) }}|{{ '%-*d|' % (5, 42) }}|{{ '%.3s' % 'abcdef' }}|{{ '%+d % d' % (5, 5) }}|{{ '%#x %#o' % (255, 8) }}|{{ '%5.1f|%-8.3e|' % (2.25, 12345.6789) }}|{{ 'no' % {} }}|{{ '%s%%' % 5 }}
---
{{ '%d' % 'a' }}
---
{{ '%s %s' % 'a' }}
---
{{ '%s' % ('a', 'b') }}
---
{{ '%q' % 1 }}
---
{{ '%(a)s' % 5 }}
---
{{ '%' % 5 }}
---
{{ '{} {}'.format(1, 'a') }}|{{ '{1} {0}'.format(1, 2) }}|{{ '{a} {b[0]} {c.d}'.format(a=1, b=[2], c={'d': 3}) }}|{{ '{{}}'.format() }}|{{ '{!r} {!s}'.format('a', 'b') }}|{{ '{:>5}|{:<5}|{:^5}|{:*^7}'.format('a', 'b', 'c', 'd') }}|{{ '{:05d}|{:+d}|{:,}|{:x}|{:#b}|{:c}'.format(42, 42, 1234567, 255, 5, 65) }}|{{ '{:.2f}|{:e}|{:g}|{:%}|{:.3}|{:10.2f}|{:,.2f}'.format(3.14159, 1234.5, 0.0001, 0.25, 3.14159, 2.5, 12345.678) }}|{{ '{:{}}'.format('a', 5) }}|{{ '{:>{w}}'.format('a', w=4) }}|{{ '{}'.format(none) }}|{{ '{:5}|{:5}'.format(true, 3) }}|{{ '{a}'.format_map({'a': 1}) }}|{{ '{:.3s}'.format('abcdef') }}|{{ '{:_}'.format(1234567) }}|{{ '{:08,.1f}'.format(1234.5) }}
---
{{ '{}'.format() }}
---
{{ '{x}'.format(y=1) }}
---
{{ '{'.format(1) }}
---
{{ '{:d}'.format('a') }}
---
{{ '{:z}'.format(1) }}
---
{{ '{0.__class__}'.format(1) }}
---
{{ w | trim }}|{{ 'xxaxx' | trim('x') }}|{{ 5 | trim }}|{{ u | length }}|{{ s | wordcount }}|{{ 'a_b c-d é' | wordcount }}|{{ x | string }}|{{ l | string }}
---
{{ u | e }}|{{ u | escape }}|{{ u | safe }}|{{ (u | e) | e }}|{{ (u | e) | forceescape }}|{{ ('<' | e) + '<' }}|{{ '<' + ('<' | e) }}|{{ '<' ~ ('<' | e) }}|{{ ('%s' | safe) % '<' }}|{{ ('{}' | safe).format('<') }}|{{ ('-' | safe).join(['<', '>']) }}|{{ ('a<' | safe).replace('a', '<') }}|{{ ['<' | e] }}|{{ ('<b>' | safe) * 2 + '<' }}|{{ (u | tojson | safe) + '<' }}|{{ ('<' | safe).upper() + '<' }}|{{ ('<' | safe) is escaped }}|{{ '<' is escaped }}
---
{{ '<a href="x">t &amp; u</a> <!-- c --> &lt;&#65;&#x42; &copy &eacute;' | striptags }}|{{ 'a b/c&d=é~' | urlencode }}|{{ {'a b': 'c/d', 'e': 1} | urlencode }}|{{ [('a', 1), ('b', 2)] | urlencode }}|{{ {'class': 'a "b"', 'x': none, 'y': 1} | xmlattr }}|{{ {'a': 1} | xmlattr(false) }}
---
{{ {'a b': 1} | xmlattr }}
---
{{ l | tojson }}|{{ d | tojson }}|{{ u | tojson }}|{{ n | tojson }}|{{ t | tojson }}|{{ f | tojson }}|{{ 1e20 | tojson }}|{{ (1, 2) | tojson }}|{{ {1: 2, none: 3, true: 4, 2.5: 5} | tojson }}|{{ '</script>' | tojson }}|{{ '\x00\x1f\x7f\u2028é' | tojson }}|{{ 'é🙂' | tojson(ensure_ascii=true) }}|{{ u | tojson(true) }}
---
{{ d | tojson(indent=2) }}|{{ {'a': {}, 'b': [], 'c': [1]} | tojson(indent=2) }}|{{ l | tojson(indent=0) }}|{{ l | tojson(indent='\t') }}|{{ {'b': 1, 'a': [1, 2]} | tojson(sort_keys=true, separators=(',', ':')) }}|{{ {'b': 1, 'a': 2} | tojson(indent=4, sort_keys=True) }}|{{ [[], {}] | tojson(indent=-1) }}
---
{{ missing | tojson }}
---
{{ range(3) | tojson }}
---
{{ {(1, 2): 3} | tojson }}
---
{{ {'a': 1, 1: 2} | tojson(sort_keys=true) }}
---
{{ [1, 2] | tojson(foo=1) }}
---
{{ n | default('D') }}|{{ missing | default('D') }}|{{ e | default('D') }}|{{ e | default('D', true) }}|{{ missing | d(1) }}|{{ missing | default }}|{{ n | default('D', boolean=true) }}|{{ d.zz | default(d.b) }}|{{ d.zz.yy | default(1) }}
---
{{ (missing.a) | default(1) }}
---
{{ '12' | int }}|{{ '-0x1F' | int(0, 16) }}|{{ '0b11' | int(0, 2) }}|{{ '12.9' | int }}|{{ 'abc' | int }}|{{ 'abc' | int(7) }}|{{ '1e3' | int }}|{{ none | int }}|{{ true | int }}|{{ -2.9 | int }}|{{ ' 5 ' | int }}|{{ '1_000' | int }}|{{ '0o17' | int(0, 0) }}|{{ '12' | float }}|{{ 'x' | float }}|{{ 'x' | float(1.5) }}|{{ 'inf' | float }}|{{ '-Infinity' | float }}|{{ 'nan' | float }}|{{ '1e400' | float }}|{{ ' 1.5 ' | float }}|{{ [] | int }}|{{ 'z' | int(0, 36) }}
---
{{ missing | int }}
---
{{ missing | float }}
---
{{ 2.5 | round }}|{{ 3.5 | round }}|{{ 2.675 | round(2) }}|{{ 2.567 | round(1, 'floor') }}|{{ 2.1 | round(0, 'ceil') }}|{{ 5 | round }}|{{ 15 | round(-1) }}|{{ 25 | round(-1) }}|{{ 1234.5 | round(-2) }}|{{ -0.4 | round }}|{{ true | round }}|{{ -5 | abs }}|{{ -2.5 | abs }}|{{ true | abs }}|{{ 1e300 | round(2) }}|{{ 0.1 | round(20) }}
---
{{ 'a' | round }}
---
{{ 'a' | abs }}
---
{{ 2.5 | round(1, 'up') }}
---
{{ 10 | filesizeformat }}|{{ 1 | filesizeformat }}|{{ 1000 | filesizeformat }}|{{ 1234567 | filesizeformat }}|{{ 1234567 | filesizeformat(true) }}|{{ '2048' | filesizeformat(binary=true) }}|{{ 1e30 | filesizeformat }}
---
{{ l | first }}|{{ l | last }}|{{ [] | first }}|{{ [] | last }}|{{ s | first }}|{{ u | last }}|{{ d | first }}|{{ d | last }}|{{ l | max }}|{{ ls | min }}|{{ ls | max(case_sensitive=true) }}|{{ objs | map(attribute='v') | max }}|{{ objs | max(attribute='v') }}|{{ [] | max }}|{{ l | sum }}|{{ objs | sum(attribute='v') }}|{{ l | sum(start=10) }}|{{ [[1], [2]] | sum(start=[]) }}
---
{{ ['a'] | sum }}
---
{{ [1, 'a'] | max }}
---
{{ l | map('string') | last }}
---
{{ 5 | first }}
---
{{ l | sort }}|{{ ls | sort }}|{{ ls | sort(case_sensitive=true) }}|{{ l | sort(reverse=true) }}|{{ objs | sort(attribute='v', reverse=true) | map(attribute='v') | list }}|{{ [['b', 1], ['a', 2]] | sort(attribute='0') }}|{{ [{'a': 1, 'b': 2}, {'a': 1, 'b': 1}] | sort(attribute='a,b') }}|{{ d | sort }}|{{ 'hello' | sort }}|{{ [(1, 'b'), (1, 'a')] | sort }}|{{ ['B', 'a', 'b', 'A'] | sort(reverse=true) }}
---
{{ [1, 'a'] | sort }}
---
{{ [none, 1] | sort }}
---
{{ objs | sort(attribute='r') }}
---
{{ ls | unique | list }}|{{ ls | unique(case_sensitive=true) | list }}|{{ [1, 1.0, true, 2] | unique | list }}|{{ objs | unique(attribute='r') | list | length }}|{{ l | reverse | list }}|{{ 'abc' | reverse }}|{{ (1, 2) | reverse | list }}|{{ d | reverse | list }}|{{ d | dictsort }}|{{ {'b': 1, 'A': 2} | dictsort }}|{{ {'b': 1, 'A': 2} | dictsort(true) }}|{{ {'b': 1, 'A': 2} | dictsort(by='value', reverse=true) }}|{{ d | items | list }}
---
{{ [[1]] | unique | list }}
---
{{ l | items | list }}
---
{{ l | dictsort }}
---
{{ l | join(',') }}|{{ l | join }}|{{ objs | join('-', attribute='r') }}|{{ [1, none, true] | join('/') }}|{{ 'abc' | join('.') }}|{{ d | join }}|{{ [[1, 2], [3]] | join(';') }}
---
{{ 5 | join }}
---
{{ objs | map(attribute='r') | list }}|{{ objs | map(attribute='r', default='q') | list }}|{{ ls | map('upper') | join }}|{{ ['1', '2'] | map('int') | sum }}|{{ [1.25] | map('round', 1) | list }}|{{ [[1, 2], [3]] | map('first') | list }}|{{ [{'a': {'b': 1}}] | map(attribute='a.b') | list }}|{{ [[1, 2]] | map(attribute=1) | list }}|{{ [] | map('upper') | list }}
---
{{ l | map | list }}
---
{{ l | map('nope') | list }}
---
{{ l | map(attribute='a', foo=1) | list }}
---
{{ [1, 2, 3, 4] | select('even') | list }}|{{ [0, 1, '', 'a', none] | select | list }}|{{ [1, 2, 3] | reject('gt', 1) | list }}|{{ objs | selectattr('r', 'equalto', 'x') | map(attribute='v') | list }}|{{ objs | rejectattr('r') | list }}|{{ objs | selectattr('r', 'defined') | list | length }}|{{ objs | selectattr('v', 'in', [1, 4]) | list | length }}|{{ ls | select('in', ['a', 'b']) | list }}|{{ ls | select('sameas', 'zz') | list }}
---
{{ l | select('nope') | list }}
---
{{ objs | selectattr | list }}
---
{{ [1, 2, 3] | batch(2) | list }}|{{ [1, 2, 3] | batch(2, 0) | list }}|{{ [1, 2, 3, 4] | slice(3) | list }}|{{ [1, 2, 3, 4] | slice(3, 'x') | list }}|{{ objs | groupby('r', default='') | list | length }}
---
{% for g in objs[:3] | groupby('r') %}{{ g.grouper }}={{ g.list | length }};{{ g[0] }}{% for m in g.list %}{{ m.v }}{% endfor %}{% endfor %}
---
{{ objs | groupby('r') | list }}
---
{{ d | attr('items') is defined }}|{{ d | attr('b') is defined }}|{{ s | attr('upper') is callable }}
---
{{ 'one two three four' | truncate(10) }}|{{ 'one two three four' | truncate(9, true) }}|{{ 'one two three four' | truncate(9, false, '!') }}|{{ 'one two' | truncate(5) }}|{{ 'one two' | truncate(5, leeway=0) }}|{{ 'onetwothree four five' | truncate(8) }}
---
{{ 'abc def' | truncate(2, leeway=0) }}
---
{{ 'a\nb' | indent }}|{{ 'a\n\nb' | indent(2) }}|{{ 'a\n\nb' | indent(2, true) }}|{{ 'a\n\nb' | indent(width=2, blank=true) }}|{{ 'a\nb\n' | indent('> ', first=true) }}|{{ '' | indent(2, true) }}
---
{{ 5 | indent }}
---
{{ 'The quick brown fox-like jumps -- over it' | wordwrap(10) }}|{{ 'averylongwordhere ok' | wordwrap(5) }}|{{ 'averylongwordhere ok' | wordwrap(5, false) }}|{{ 'a b c d' | wordwrap(3, wrapstring='/') }}|{{ 'para one\n\npara two' | wordwrap(6) }}|{{ 'co-op re-do x-y-z' | wordwrap(4) }}|{{ 'co-op re-do' | wordwrap(4, break_on_hyphens=false) }}|{{ '  lead and trail  ' | wordwrap(8) }}|{{ 'foo---bar--baz' | wordwrap(7) }}
---
{{ x is odd }}{{ x is even }}{{ x is divisibleby 7 }}{{ x is number }}{{ f is float }}{{ t is integer }}{{ t is number }}{{ t is boolean }}{{ n is none }}{{ s is string }}{{ l is sequence }}{{ d is sequence }}{{ d is mapping }}{{ s is iterable }}{{ x is iterable }}{{ missing is iterable }}{{ missing is sequence }}{{ range(3) is sequence }}{{ d.keys() is sequence }}{{ (1,) is sequence }}
---
{{ x is defined }}{{ missing is undefined }}{{ d.zz is defined }}{{ x is eq 7 }}{{ x is ne 7 }}{{ x is gt 3 }}{{ x is ge 7 }}{{ x is lt 3 }}{{ x is le 7 }}{{ x is equalto 7 }}{{ x is in [7] }}{{ x is not in [7] }}{{ none is sameas none }}{{ true is sameas true }}{{ 1 is sameas true }}{{ l is sameas l }}{{ true is true }}{{ 1 is true }}{{ false is false }}{{ 'a' is lower }}{{ 'A1' is upper }}{{ '1' is upper }}{{ x is callable }}{{ range is callable }}{{ 'upper' is filter }}{{ 'nope' is filter }}{{ 'odd' is test }}{{ not x is odd }}{{ x is not odd }}{{ x is odd and x is number }}
---
{{ 'a' is odd }}
---
{{ x is nope }}
---
{{ l | nope }}
---
{% if false %}{{ l | nope }}{% endif %}ok{{ (l | nope) if false else 'else' }}
---
{% if true %}{{ l | nope }}{% endif %}
---
{% if true %}{% for i in l %}{{ i | nope }}{% endfor %}{% endif %}
---
{{ s | upper(1) }}
---
{{ s | replace('a') }}
---
{{ l | join(x=1) }}
---
{{ s | trim(chars='H', chars='d') }}
---
{% for i in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }}{{ loop.depth0 }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.cycle('a', 'b') }}{{ loop.changed(i > 1) }}{{ loop }};{% endfor %}
---
{% for i in [] %}x{% else %}empty{% endfor %}|{% for i in missing %}x{% else %}none{% endfor %}|{% for i in l %}{% continue %}{% else %}skipped{% endfor %}|{% for i in l %}{% break %}{% else %}broken{% endfor %}|{% for i in l %}{% if i == 1 %}{% break %}{% endif %}{{ i }}{% else %}no{% endfor %}
---
{% for i in l if i > 1 %}{{ loop.index }}/{{ loop.length }}:{{ i }}{{ loop.last }} {% else %}none{% endfor %}|{% for i in l if i > 9 %}{% else %}none{% endfor %}|{% for i in range(6) if i is odd %}{{ i }}{{ loop.nextitem }};{% endfor %}
---
{% set ns = namespace(on=true) %}{% for i in range(5) if ns.on %}{{ i }}{% if i == 2 %}{% set ns.on = false %}{% endif %}{% endfor %}|{{ ns.on }}
---
{% for a, b in [[1, 2], (3, 4), 'xy'] %}{{ a }}{{ b }};{% endfor %}|{% for a, (b, c) in [[1, [2, 3]]] %}{{ a }}{{ b }}{{ c }}{% endfor %}|{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}|{% for k in d %}{{ k }}{% endfor %}|{% for c in 'é🙂' %}{{ c }}.{% endfor %}
---
{% for a, b in [[1]] %}{% endfor %}
---
{% for a, b in [[1, 2, 3]] %}{% endfor %}
---
{% for a, b in [5] %}{% endfor %}
---
{% for i in 5 %}{% endfor %}
---
{% for i in none %}{% endfor %}
---
{% for a in [[1, [2, [3]]], [4]] recursive %}{% if a is number %}{{ loop.depth }}:{{ a }} {% else %}({{ loop(a) }}){% endif %}{% endfor %}
---
{% for a in l %}{{ loop(a) }}{% endfor %}
---
{% for i in range(3) %}{% for k in range(2) %}{{ loop.index }}{% endfor %}{{ loop.index }};{% endfor %}|{{ loop is defined }}|{% for i in l %}{% set outer = loop %}{% for k in l %}{{ outer.index }}{{ loop.index }} {% endfor %}{% endfor %}
---
{% set v = 1 %}{% for i in l %}{{ v }}{% set v = v + i %}{{ v }};{% endfor %}{{ v }}|{% if true %}{% set w2 = 5 %}{% endif %}{{ w2 }}|{% if false %}{% set w3 = 5 %}{% endif %}{{ w3 is defined }}
---
{% for i in [1, 2] %}{{ x }}{% endfor %}{% set x = 5 %}{{ x }}
---
{% macro m() %}{{ x }}{% endmacro %}{{ m() }}{% set x = 5 %}{{ m() }}
---
{% macro m() %}{{ x }}{% endmacro %}{{ x }}{{ m() }}{% set x = 5 %}{{ m() }}
---
{% if true %}{% set x = 9 %}{% endif %}{% for i in [1] %}{{ x }}{% endfor %}
---
{% for i in [1, 2] %}{% if i == 2 %}{{ s }}{% endif %}{% set s = i %}{{ s }}{% endfor %}{{ s }}
---
{% set a, b = 1, 2 %}{{ a }}{{ b }}|{% set a, b = b, a %}{{ a }}{{ b }}|{% set (p, q) = 'xy' %}{{ p }}{{ q }}|{% set blk %}a{{ x }}b{% endset %}{{ blk }}|{% set up | upper | replace('B', '!') %}abc{% endset %}{{ up }}|{% set t2 = 1, 2 %}{{ t2 }}
---
{% set ns = namespace(a=1, b='x') %}{{ ns.a }}{{ ns.b }}{{ ns.c is defined }}{% set ns.c = 5 %}{{ ns.c }}{% for i in l %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}|{{ ns }}|{{ ns['a'] }}|{% set ns2 = namespace({'k': 1}, z=2) %}{{ ns2.k }}{{ ns2.z }}|{% set ns.a, y = 1, 2 %}{{ ns.a }}{{ y }}|{% set ns.blk %}t{{ x }}{% endset %}{{ ns.blk }}
---
{{ namespace().zz.y }}
---
{% set x.y = 1 %}
---
{% set missing.y = 1 %}
---
{% macro m(a, b=2, c='z') %}({{ a }},{{ b }},{{ c }}){% endmacro %}{{ m(1) }}{{ m(1, c=3) }}{{ m(1, 2, 3) }}{{ m() }}{{ m(b=1) }}|{{ m.name }}{{ m.arguments }}{{ m.catch_kwargs }}{{ m.caller }}|{{ m }}
---
{% macro m(a) %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, 3, k=5) }}{{ m() }}|{% macro v(*a) %}{% endmacro %}
---
{% macro m(a) %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, 3, k=5) }}{{ m() }}
---
{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}
---
{% macro m(a) %}{% endmacro %}{{ m(b=2) }}
---
{% macro m(a) %}{{ a.x }}{% endmacro %}{{ m() }}
---
{% macro m(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}|{% macro k(a=x) %}{{ a }}{% endmacro %}{{ k() }}|{% set x = 3 %}{{ k() }}
---
{% macro m(a=1, b) %}{% endmacro %}
---
{% macro outer() %}<{{ caller(1, 2) }}>{% endmacro %}{% call(p, q) outer() %}{{ p }}+{{ q }}{% endcall %}|{% macro c2() %}{{ caller() if caller is defined else 'none' }}{% endmacro %}{{ c2() }}{% call c2() %}body{{ x }}{% endcall %}
---
{% macro no() %}x{% endmacro %}{% call no() %}{% endcall %}
---
{% call x %}{% endcall %}
---
{% macro f(n) %}{{ n }}{% if n > 0 %},{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(4) }}
---
{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}B{% endmacro %}{{ a() }}
---
{% for i in [1, 2] %}{% macro m() %}{{ i }}{% endmacro %}{{ m() }}{% endfor %}|{{ m is defined }}
---
{{ x | upper }}{% filter upper %}a{{ s }}{% endfilter %}|{% filter replace('a', 'b') | upper %}banana{% endfilter %}|{% filter indent(2) %}
a
b
{% endfilter %}
---
{% with a = 1, b = x %}{{ a }}{{ b }}{% endwith %}{{ a is defined }}|{% with %}{% set z = 1 %}{{ z }}{% endwith %}{{ z is defined }}|{% with x = 1, y = x %}{{ x }}{{ y }}{% endwith %}
---
{% raw %}{{ x }} {% if %} {# c #}{% endraw %}|{%- raw -%}  a  {%- endraw -%}  b|{% raw %}
x
{% endraw %}
y
---
{# comment #}a{#- b -#} c {# multi
line #}
d
---
a
  {% if t %}
  b
  {% endif %}
c {% if t %} d {% endif %} e
{%- if t %}

  f
{%- endif -%}
  g
  {%+ if t %}h{% endif %}
  {% if t +%}
i{% endif %}
{{ x }}
  {{- x -}}
  j
---
<s>
  {% if true %}
  X
  {% endif %}
{{- ' y' -}}
  z  {%- if false %}q{% endif %}

end
---
a
  {# note #}
b
---
a
  {%+ if true %}
X
{% endif %}
---
{% if true -%}  

 x {%- endif %}
 y
---
  {%- set a = 1 -%}  
x
	{% set b = 2 %}	
y   {% set c = 3 %}
z
---
{% if x == 4 %}a{% elif x == 7 %}b{% else %}c{% endif %}|{% if n is none and e == '' %}d{% endif %}|{% if not (t and e) %}f{% endif %}|{% if l %}g{% endif %}|{% if missing %}h{% else %}i{% endif %}
---
{% print x, s %}|{% generation %}gen {{ x }}{% set inner = 1 %}{% endgeneration %}{{ inner is defined }}
---
{% macro m() %}{% generation %}{{ caller is defined }}{% endgeneration %}{{ caller() }}{% endmacro %}{% call m() %}c{% endcall %}
---
{{ dict(a=1) }}|{{ dict([('a', 1), ('b', 2)]) }}|{{ dict({'a': 1}, b=2) }}|{{ dict() }}|{{ dict(d, **{'z': 1}) | length }}
---
{{ dict(1) }}
---
{{ dict([[1]]) }}
---
{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.reset() }}{{ c.next() }}|{% set j = joiner('; ') %}{% for i in l %}{{ j() }}{{ i }}{% endfor %}|{% set j2 = joiner() %}{{ j2() }}{{ j2() }}
---
{{ cycler() }}
---
{{ strftime_now('%d %b %Y') }}|{{ strftime_now('%Y-%m-%d %H:%M:%S %A %B %j %p %I %y %a %e %U %W %V %G %u %w %Z%z%% %D %T %F %R %r %c %x %X %C %h %n%t%f') }}|{{ strftime_now('%-d.%-m.%_d %-I') }}|{{ strftime_now('é') }}
---
{{ raise_exception('boom ' ~ x ~ ' <' ~ u ~ '>') }}
---
a
b{{ raise_exception('Only user, assistant and tool roles are supported; got ' + s) }}
---
{{ l | map('upper') is iterable }}|{{ l | map('upper') is sequence }}|{{ l | select is string }}|{{ (l | map('string')) | list }}|{% set g = l | map('string') %}{{ g | list }}{{ g | list }}|{% set h = l | select %}{{ h | first }}{{ h | list }}|{{ 3 in (l | select) }}
---
{{ l | map('string') | length }}
---
{{ (l | map('string'))[0] is defined }}
---
{{ x.bit_length() }}|{{ f.is_integer() }}|{{ x.real }}|{{ f.imag }}|{{ l.index(1) }}|{{ l.count(3) }}|{{ (1, 2).index(2) }}|{{ ls.index('b', 1) }}|{{ d.get('zz') }}|{{ d.get('zz', 1) }}|{{ d.copy() == d }}
---
{{ l.index(99) }}
---
{{ d.get() }}
---
{{ d.get([]) }}
---
{% if %}{% endif %}
---
{{ x
---
{% for %}
---
{% for i in l %}
---
{% endif %}
---
{% if x %}{% endfor %}
---
{% nope %}
---
{{ x | }}
---
{{ x. }}
---
{{ 'abc }}
---
{{ (1 }}
---
{{ [1) }}
---
{{ ) }}
---
{{ x ! y }}
---
{# open
---
{% raw %} open
---
{% set %}
---
{% set 1 = 2 %}
---
{% set true = 2 %}
---
{% set a b = 2 %}
---
{% macro 1() %}{% endmacro %}
---
{% break %}
---
{% for i in l %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}
---
{% for i in l %}{% set b %}{% if i == 1 %}{% break %}{% endif %}{{ i }}{% endset %}{{ b }}{% endfor %}
---
{% for i in l %}{% set loop = 1 %}{% endfor %}
---
{{ f(a=1, 2) }}
---
{{ f(*l, *l) }}
---
{{ f(a=1, a=2) }}
---
{{ x is odd is even }}
---
{{ dict(*[[('a', 1)]], **{'b': 2}) }}|{% macro m(a, b) %}{{ a }}-{{ b }}{% endmacro %}{{ m(*[1, 2]) }}{{ m(**{'a': 1, 'b': 2}) }}{{ m(1, **{'b': 3}) }}
---
{{ {'a': 1}['a'] }}{{ [1, 2][0] }}{{ 'abc'[1] }}{{ (1, 2)[1] }}{{ {'a': {'b': [1, {'c': 2}]}}.a.b[1].c }}{{ {'a': 1} | length }}{{ '%s' % 'a' | upper }}{{ -1 | abs }}{{ (-1) | abs }}{{ - 1 }}
---
{{ 'a' if true else 'b' if false else 'c' }}|{{ ('a' if false else 'b') ~ 'c' }}|{{ 1 if x > 3 and f < 3 else 0 }}|{{ not x > 3 }}|{{ not (x > 3) == false }}|{{ x > 3 == true }}|{{ 1 + 2 * 3 - 4 / 2 }}|{{ 2 * 3 ** 2 }}|{{ (1, 2) == (1, 2) }}|{{ 10 - 2 - 3 }}|{{ 100 / 10 / 2 }}|{{ 7 % 4 * 2 }}
---
{{ d.b if d.b is defined and d.b is not none else 'no' }}|{{ d.b is defined and d.b }}|{{ x is number or zz }}|{{ (x, s) | last }}|{{ x }}{{ s }}{{- ' z' }} |{{ s|length }}{{s|upper|lower}}
---
{%if x==7%}tight{%endif%}{%-for i in l-%} {{i}} {%-endfor-%}|{{'a'}}|{{-x}}|{{ -x }}
---
{% include 'a' %}
---
{% import 'a' as b %}
---
{% from 'a' import b %}
---
{% extends 'a' %}
---
{% do x %}
---
{{ '\ud83d' }}
---
{{ '\xzz' }}
---
{{ 99999999999999999999 }}|{{ [99999999999999999999, -1] | tojson }}|{{ 99999999999999999999 > 1e19 }}{{ 99999999999999999999 < 1e20 }}{{ 99999999999999999999 == 1e20 }}
---
{{ 'x' * 3 ~ 'y' * 2 }}{{ 'a' ~ 'b' * 2 }}{{ [] ~ '' }}{{ none ~ none }}
---
{{ (a, b) is defined }}{{ [x, [f, [s]]] }}{{ ((1)) }}{{ (()) }}{{ ((1,),) }}
---
{{ '%s' % (l,) }}|{{ '%r %a' % ('é', 'é') }}|{{ '%s %s' % ('a', 'b') | upper }}|{{ ('%s %s' % ('a', 'b')) | upper }}
---
{{ {'x': 1}.items() | list }}{% for key, value in {'a': 1, 'b': 2}.items() %}{{ key }}{{ value }}{% if not loop.last %}, {% endif %}{% endfor %}
'''.strip("\n").split("\n---\n")


class Generator:
    """Expressions at random; most are of the type that is asked for."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, *choices):
        choice = self.random.choice(choices)
        return choice() if callable(choice) else choice

    def number(self, depth):
        if depth <= 0:
            return self.pick("x", "neg", "zero", "f", "g", "1", "2", "3", "10", "0.5", "1e3", "-1", "2.675", "1_000")
        n, s, q = (lambda: self.number(depth - 1)), (lambda: self.string(depth - 1)), (lambda: self.sequence(depth - 1))
        return self.pick(
            lambda: f"({n()} + {n()})", lambda: f"{n()} * {n()}", lambda: f"({n()} - {n()})", lambda: f"{n()} / {n()}",
            lambda: f"{n()} // {n()}", lambda: f"{n()} % {n()}", lambda: f"({n()}) ** {self.pick('2', '0', '3', '-1', '0.5')}",
            lambda: f"-({n()})", lambda: f"{n()} | abs", lambda: f"{n()} | int", lambda: f"{n()} | float",
            lambda: f"({n()}) | round({self.pick('', '1', '2', '-1')})",
            lambda: f"({n()}) | round(1, '{self.pick('floor', 'ceil')}')",
            lambda: f"{s()} | length", lambda: f"{q()} | length", lambda: f"{q()} | sum", lambda: f"{q()} | max",
            lambda: f"{q()} | min", lambda: f"({s()}).find('{self.letter()}')", lambda: f"({s()}).count('{self.letter()}')",
            lambda: f"{s()} | int(default=5)", lambda: f"{s()} | wordcount", lambda: f"num | float + {n()}",
            lambda: f"({n()} if {self.test(depth - 1)} else {n()})",
        )

    def letter(self):
        return self.pick("l", "o", "a", " ", "Z", "ß", "🙂", "", "World", "\\n", "-")

    def string(self, depth):
        if depth <= 0:
            return self.pick("s", "e", "u", "w", "lines", "num", "greek", "de", "'a-b-c'", "'xXx'", "\"it's\"", "'π 10%'", "'a,b'")
        n, s, q = (lambda: self.number(depth - 1)), (lambda: self.string(depth - 1)), (lambda: self.sequence(depth - 1))
        c = self.letter
        return self.pick(
            lambda: f"({s()} + {s()})", lambda: f"({s()} ~ {n()} ~ {q()})", lambda: f"{s()} * {self.pick('2', '0', '-1')}",
            lambda: f"{s()} | upper", lambda: f"{s()} | lower", lambda: f"{s()} | title", lambda: f"{s()} | capitalize",
            lambda: f"({s()}).title()", lambda: f"({s()}).swapcase()", lambda: f"({s()}).casefold()",
            lambda: f"({s()}).strip({self.pick('', repr('l '), repr('aH'))})", lambda: f"({s()}).lstrip()",
            lambda: f"({s()}).rstrip('\\n')", lambda: f"{s()} | trim", lambda: f"({s()}).replace('{c()}', '{c()}')",
            lambda: f"({s()}).replace('{c()}', '<>', 1)", lambda: f"{s()} | replace('{c()}', '_')",
            lambda: f"({s()})[{self.pick('1:', ':-1', '::-1', '::2', '-3:', '5:1:-2', '100:', ':0')}]",
            lambda: f"({s()})[{self.pick('0', '-1', '3', '99')}]", lambda: f"{q()} | join('{c()}')", lambda: f"'-'.join({s()})",
            lambda: f"{n()} | string", lambda: f"{q()} | string", lambda: f"{q()} | tojson", lambda: f"{s()} | tojson",
            lambda: f"{s()} | e", lambda: f"({s()} | e) + {s()}", lambda: f"{s()} | reverse", lambda: f"{s()} | center(15)",
            lambda: f"{s()} | indent({self.pick('', '2', 'first=true', '2, blank=true', repr('> '))})",
            lambda: f"{s()} | truncate({self.pick('5', '6, true', '9, false, repr', '5, leeway=0')})".replace("repr", "'..'"),
            lambda: f"{s()} | wordwrap({self.pick('3', '5', '8', '6, false')})", lambda: f"{s()} | urlencode",
            lambda: f"({s()}).{self.pick('center', 'ljust', 'rjust')}(16, '*')", lambda: f"({s()}).zfill(15)",
            lambda: f"({s()}).removeprefix('He').removesuffix('d')", lambda: f"({s()}).expandtabs(4)",
            lambda: f"'%s|%5s|%-6s|' % ({s()}, {n()}, {s()})", lambda: f"'%05.1f %d %x' | format({n()}, x, 255)",
            lambda: f"'{{}} {{0!r}}'.format({s()})".replace("{} {0!r}", self.pick("{}|{!r}", "{0:>20}", "{0:^9.3}|{0}", "{{{}}}")),
            lambda: f"'{{:{self.pick('', '+', '08.2f', ',', 'e', '>10', '%', '.3')}}}'.format({n()})",
            lambda: f"({s()} if {self.test(depth - 1)} else {s()})", lambda: f"({s()} or {s()})", lambda: f"({s()} and {s()})",
            lambda: f"{q()} | first", lambda: f"{q()} | last", lambda: f"d.{self.pick('a', 'b', 'zz', 'get(%r)' % 'b', 'items')}",
        )

    def sequence(self, depth):
        if depth <= 0:
            return self.pick("l", "ls", "mixed", "[]", "[1, 2.5, true]", "('a', 'b')", "range(4)", "range(9, 0, -3)", "d", "objs", "(1,)")
        n, s, q = (lambda: self.number(depth - 1)), (lambda: self.string(depth - 1)), (lambda: self.sequence(depth - 1))
        c = self.letter
        return self.pick(
            lambda: f"[{n()}, {s()}]", lambda: f"[{q()}, {q()}]", lambda: f"{{'k': {n()}, {n()}: {s()}}}", lambda: f"({q()} + {q()})",
            lambda: f"{q()} * 2", lambda: f"({q()})[{self.pick('1:', ':-1', '::-1', '::2', '-2:')}]", lambda: f"{q()} | sort",
            lambda: f"{q()} | sort(reverse=true, case_sensitive=true)", lambda: f"{q()} | unique | list", lambda: f"{q()} | reverse | list",
            lambda: f"{q()} | list", lambda: f"{s()} | list", lambda: f"{q()} | map('string') | list", lambda: f"ls | map('{self.pick('upper', 'length', 'title')}') | list",
            lambda: f"objs | map(attribute='{self.pick('v', 'r', 'zz')}') | list", lambda: f"objs | map(attribute='r', default='?') | list",
            lambda: f"objs | selectattr('{self.pick('r', 'v')}') | list", lambda: f"objs | selectattr('v', '{self.pick('gt', 'lt', 'ne', 'in')}', {self.pick('2', '[1, 4]')}) | list",
            lambda: f"objs | rejectattr('r', 'undefined') | map(attribute='r') | list", lambda: f"{q()} | select('{self.pick('number', 'string', 'odd', 'mapping', 'none')}') | list",
            lambda: f"{q()} | reject('{self.pick('number', 'sequence', 'true')}') | list", lambda: f"{q()} | batch(2{self.pick('', ', 0')}) | list",
            lambda: f"{q()} | slice(2{self.pick('', ', none')}) | list", lambda: f"objs | groupby('{self.pick('r', 'v')}'{self.pick('', ', default=%r' % '', ', case_sensitive=true')}) | list",
            lambda: f"({s()}).split({self.pick('', repr('l'), repr('-') + ', 1', 'none, 1')})", lambda: f"({s()}).rsplit({self.pick('', repr('o') + ', 1', 'none, 1')})",
            lambda: f"({s()}).splitlines({self.pick('', 'true')})", lambda: f"({s()}).partition('{c() or '-'}')", lambda: f"({s()}).rpartition('{c() or '-'}')",
            lambda: f"d.{self.pick('keys()', 'values()', 'items()', 'get(%r, [])' % 'zz')}", lambda: "d | dictsort", lambda: f"dict(a={n()}, b={q()})",
            lambda: f"d.items() | list", lambda: "d | items | list", lambda: f"({q()}, {n()})", lambda: f"({q()} or {q()})",
        )

    def test(self, depth):
        if depth <= 0:
            return self.pick("t", "true", "false", "n", "e", "zz", "l")
        n, s, q = (lambda: self.number(depth - 1)), (lambda: self.string(depth - 1)), (lambda: self.sequence(depth - 1))
        op = lambda: self.pick("==", "!=", "<", "<=", ">", ">=")  # noqa: E731
        return self.pick(
            lambda: f"({n()} {op()} {n()})", lambda: f"({s()} {op()} {s()})", lambda: f"({q()} {op()} {q()})", lambda: f"({n()} == {s()})",
            lambda: f"({n()} {op()} {n()} {op()} {n()})", lambda: f"('{self.letter()}' in {s()})", lambda: f"({n()} in {q()})", lambda: f"({s()} not in {q()})",
            lambda: f"({q()} is {self.pick('', 'not ')}{self.pick('iterable', 'sequence', 'mapping', 'string', 'defined', 'none')})",
            lambda: f"({n()} is {self.pick('number', 'integer', 'float', 'odd', 'even', 'boolean', 'divisibleby 2', 'divisibleby(3)', 'eq 1')})",
            lambda: f"({s()} is {self.pick('upper', 'lower', 'string', 'in %r' % 'abc', 'escaped', 'sameas s')})",
            lambda: f"(not {self.test(depth - 1)})", lambda: f"({self.test(depth - 1)} and {self.test(depth - 1)})",
            lambda: f"({self.test(depth - 1)} or {self.test(depth - 1)})", lambda: f"({s()}).startswith('{self.letter()}')",
            lambda: f"({s()}).endswith(('d', '{self.letter()}'))", lambda: f"({s()}).is{self.pick('digit', 'alpha', 'alnum', 'upper', 'lower', 'space', 'title', 'numeric', 'identifier', 'printable')}()",
        )

    def expression(self):
        kind = self.random.choice((self.number, self.string, self.string, self.sequence, self.sequence, self.test))
        return "{{ " + kind(self.random.choice((1, 1, 2, 2, 3))) + " }}"


class ProgramGenerator:
    """Whole templates at random: blocks inside each other, white space and its control, variables, macros."""

    NAMES = ("x", "s", "a", "b", "c")

    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, *choices):
        choice = self.random.choice(choices)
        return choice() if callable(choice) else choice

    def name(self):
        return self.random.choice(self.NAMES)

    def value(self):
        return self.pick(
            "1", "'v'", "[1, 2]", "s", "x", self.name, lambda: f"{self.name()} ~ '!'", "l", "[]", "none",
            lambda: f"({self.name()} or 'o')", "ns.k", "loop.index if loop is defined else 0", "kwargs | length", "varargs | length",
        )

    def test(self):
        return self.pick("t", "false", self.name, lambda: f"{self.name()} is defined", lambda: f"{self.name()} == 1", "loop is defined",
                         "loop.first", "not loop.last", "i == 2", "caller is defined", "ns.k")

    def space(self):
        return self.random.choice(("", "", " ", "\n", "\n  ", "  \n", "\n\n", "\t", " \n \n"))

    def tag(self, text):
        return "{%" + self.pick("", "", "-", "+") + f" {text} " + self.pick("", "", "-", "+") + "%}"

    def output(self):
        return "{{" + self.pick("", "", "-") + f" {self.pick(self.value, self.name)} " + self.pick("", "", "-") + "}}"

    def block(self, depth, loops):
        return "".join(self.space() + self.statement(depth - 1, loops) for _ in range(self.random.choice((1, 1, 2, 3)))) + self.space()

    def statement(self, depth, loops):
        if depth <= 0:
            return self.pick(self.output, self.output, "text", "{# note #}", "{#- n -#}", lambda: self.tag(f"set {self.name()} = {self.value()}"),
                             lambda: self.tag(f"set ns.k = {self.value()}"))
        inner = lambda more=0: self.block(depth, loops + more)  # noqa: E731
        separate = lambda: self.block(depth, 0)  # noqa: E731
        return self.pick(
            self.output, lambda: self.tag(f"set {self.name()} = {self.value()}"), lambda: self.tag(f"set {self.name()}, {self.name()} = {self.value()}, 5"),
            lambda: self.tag(f"if {self.test()}") + inner() + self.tag("endif"),
            lambda: self.tag(f"if {self.test()}") + inner() + self.tag(f"elif {self.test()}") + inner() + self.tag("else") + inner() + self.tag("endif"),
            lambda: self.tag(f"for i in {self.pick('l', '[1, 2]', '[]', 'range(3)', self.name())}{self.pick('', '', ' if i != 2')}") + inner(1) + self.tag("endfor"),
            lambda: self.tag(f"for {self.name()} in [1, 2, 3]") + inner(1) + self.tag("else") + inner() + self.tag("endfor"),
            lambda: self.tag("for i in [[1], 2] recursive") + "{{ loop(i) if i is iterable else i }}" + inner(1) + self.tag("endfor"),
            lambda: self.tag(f"set {self.name()}") + inner() + self.tag("endset"),
            lambda: self.tag(f"with {self.name()} = {self.value()}, {self.name()} = {self.value()}") + inner() + self.tag("endwith"),
            lambda: self.tag(f"macro m({self.pick('', 'a', 'a, b=a', 'b=2')})") + separate() + self.tag("endmacro") + "{{ m(" + self.pick("", "1", "a=2", "1, 2, z=3") + ") }}",
            lambda: self.tag("macro m()") + separate() + "{{ caller(7) }}" + self.tag("endmacro") + self.tag("call(a) m()") + separate() + self.tag("endcall"),
            lambda: self.tag(f"filter {self.pick('upper', 'trim', 'indent(2)')}") + inner() + self.tag("endfilter"),
            lambda: self.tag("generation") + separate() + self.tag("endgeneration"),
            lambda: self.tag("raw") .replace("+%}", "%}") + "{{ x }} {% y" + self.tag("endraw"),
            lambda: self.tag(self.pick("break", "continue")) if loops else "text",
        )

    def template(self):
        return "{% set ns = namespace(k=0) %}" + self.block(self.random.choice((2, 3, 3, 4)), 0)


def features():
    return [{"template": source, **render(source, CONTEXT)} for source in FEATURES]


def expressions(count, seed):
    generator = Generator(seed)
    cases = {}
    while len(cases) < count:
        source = generator.expression()
        result = render(source, CONTEXT)
        # Addresses differ from run to run, complex numbers are no part of the dialect, long texts tell little more.
        if " at 0x" in str(result) or "j)" in str(result) or len(str(result)) > 400 or source in cases:
            continue
        # Errors are worth a few cases: what matters is that they are errors.
        if "error" in result and generator.random.random() > 0.3:
            continue
        cases[source] = result
    return [{"template": source, **result} for source, result in cases.items()]


def programs(count, seed):
    generator = ProgramGenerator(seed)
    cases = {}
    while len(cases) < count:
        source = generator.template()
        result = render(source, CONTEXT)
        if " at 0x" in str(result) or len(str(result)) + len(source) > 500 or source in cases:
            continue
        if "error" in result and generator.random.random() > 0.1:
            continue
        cases[source] = result
    return [{"template": source, **result} for source, result in cases.items()]


def conversations(folder):
    """Renders every own template for every conversation."""
    listed = json.loads((folder / "conversations.json").read_text(encoding="utf-8"))["conversations"]
    for path in sorted(folder.glob("own-*.jinja")):
        source = path.read_text(encoding="utf-8")
        cases = []
        for conversation in listed:
            for prompt in (True, False):
                context = {**conversation["context"], "add_generation_prompt": prompt, "bos_token": "<s>", "eos_token": "</s>"}
                cases.append({"conversation": conversation["name"], "add_generation_prompt": prompt, **render(source, context)})
        write(path.with_suffix(".json"), {"bos_token": "<s>", "eos_token": "</s>", "jinja2": jinja2.__version__, "cases": cases})


def write(path, value):
    """Writes one case to a line."""
    cases = ",\n".join(json.dumps(case, ensure_ascii=False) for case in value.pop("cases"))
    head = json.dumps(value, ensure_ascii=False)[:-1]
    path.write_text(f'{head}, "cases": [\n{cases}\n]}}\n', encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=HERE)
    args = parser.parse_args()
    head = {"now": NOW.isoformat(), "jinja2": jinja2.__version__, "context": CONTEXT}
    write(args.out / "features.json", {**head, "cases": features()})
    write(args.out / "expressions.json", {**head, "seed": args.seed, "cases": expressions(args.count, args.seed)})
    write(args.out / "programs.json", {**head, "seed": args.seed, "cases": programs(args.count // 4, args.seed)})
    conversations(args.out)


if __name__ == "__main__":
    main()
