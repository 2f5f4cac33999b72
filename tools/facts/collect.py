"""Prints what OpenStack's packages say of themselves, as one line of JSON. Runs inside a root file system.

    python3 -c "$(cat collect.py)" < question    question: {"distributions": [...], "also": [...], ...}, see answer()

One process for one service: services change the defaults of the libraries that they share. Whatever the machine has a
say in (host name, address, processors) is made up before a service is imported, in two processes differently: a default
that differs between them is marked as a sample.
"""

import ast
import glob
import gzip
import importlib.metadata
import json
import multiprocessing
import os
import platform
import re
import socket
import sys

from keystoneauth1 import loading
from oslo_config import cfg, generator, types
from oslo_utils import netutils

# oslo.config's types, the more special ones first.
TYPES = (
    (types.Boolean, 'boolean'),
    (types.Port, 'port'),
    (types.Integer, 'integer'),
    (types.Number, 'float'),
    (types.List, 'list'),
    (types.Range, 'range'),
    (types.Dict, 'dict'),
    (types.IPAddress, 'ip'),
    (types.HostAddress, 'host-address'),
    (types.HostDomain, 'host-domain'),
    (types.Hostname, 'hostname'),
    (types.URI, 'uri'),
)
PLAIN = {int: 'integer', float: 'float', bool: 'boolean'}


def text(value):
    """One line; messages that wait for their translation become text."""
    return ' '.join(str(value).split())


def kind(of):
    """The type of a value, with what limits it."""
    name = PLAIN.get(of) if isinstance(of, type) else next((name for known, name in TYPES if isinstance(of, known)), None)
    if name is None and getattr(of, 'item_type', None) is not None:
        name = 'list'
    result = {'type': name or 'string'}
    for limit in ('min', 'max'):
        value = getattr(of, limit, None)
        if name in ('integer', 'float', 'port') and value is not None and abs(value) != float('inf'):
            if name != 'port' or value not in (0, 65535):
                result[limit] = value
    choices = getattr(of, 'choices', None)
    if choices:
        result['choices'] = list(choices)
        if getattr(of, 'ignore_case', False):
            result['ignoreCase'] = True
    if getattr(of, 'regex', None) is not None:
        result['regex'] = of.regex.pattern
    if getattr(of, 'max_length', None):  # 0 where there is none
        result['maxLength'] = of.max_length
    version = {'_check_ipv4': 4, '_check_ipv6': 6}.get(of.version_checker.__name__) if name == 'ip' else None
    if version is not None:
        result['version'] = version
    if name == 'uri' and of.schemes:
        result['schemes'] = list(of.schemes)
    inner = getattr(of, {'list': 'item_type', 'dict': 'value_type'}.get(name, ''), None)
    if inner is not None and kind(inner) != {'type': 'string'}:
        result['items'] = kind(inner)
    return result


def default_of(option):
    """The default as the sample configuration shows it: None, a line, or the lines of an option given many times."""
    if hasattr(option.type, 'format_defaults'):
        lines = option.type.format_defaults(option.default, option.sample_default)
    else:
        lines = generator._format_defaults(option)
    lines = [str(line) for line in lines]
    if option.multi:
        return [line for line in lines if line not in ('', '<None>')]
    return None if lines == ['<None>'] else ''.join(lines)


def option_of(option, group):
    """One option as oslo.config's own generator sees it. What is absent is false, empty or unknown."""
    if not isinstance(option, cfg.Opt):
        option = option._to_oslo_opt()
    of = kind(option.type)
    if option.multi:
        of = {'type': 'multi', **({} if of == {'type': 'string'} else {'items': of})}
    result = {'group': group, 'name': option.dest, **of, 'default': default_of(option)}
    if option.sample_default is not None:
        result['sample'] = True
    deprecated = [
        (old.group or group, old.name or option.dest)
        for old in option.deprecated_opts
        if not old.name or '-' not in old.name
    ]
    if deprecated:
        result['deprecated'] = list(dict.fromkeys(deprecated))
    if option.deprecated_for_removal:
        removal = {'since': option.deprecated_since, 'reason': option.deprecated_reason}
        result['removal'] = {key: text(value) for key, value in removal.items() if value}
    for flag in ('mutable', 'secret', 'required', 'advanced'):
        if getattr(option, flag):
            result[flag] = True
    if option.help:
        result['help'] = '\n'.join(line.rstrip() for line in str(option.help).strip().split('\n'))
    return result


def spread(listing):
    """The options of [(group, [option, ...])], each once, sorted."""
    found = {}
    for group, options in listing:
        name = getattr(group, 'name', group) or 'DEFAULT'
        for option in options:
            described = option_of(option, name)
            found[(name, described['name'])] = described
    return [found[key] for key in sorted(found)]


def listing_of(package, place):
    """What a function of a package lists, or what the package has registered in a ConfigOpts, as a namespace lists it."""
    found = importlib.metadata.EntryPoint(package, place, '').load()
    if not isinstance(found, cfg.ConfigOpts):
        return found()
    common = cfg.ConfigOpts()._opts
    groups = [(None, found), *found._groups.items()]
    return [(name, [one['opt'] for key, one in group._opts.items() if key not in common]) for name, group in groups]


def options_of(namespaces, modules):
    """{namespace: options}; `modules` has what packages list that declare no namespace."""
    result = {namespace: spread(listing) for namespace, listing in generator._list_opts(list(namespaces))}
    known = {(option['group'], option['name']) for options in result.values() for option in options}
    for namespace, listing in modules.items():
        options = spread(listing)
        result[namespace] = [option for option in options if (option['group'], option['name']) not in known]
    return result


def rule_of(rule):
    """One policy rule. What is absent is false, empty or unknown."""
    result = {'name': rule.name, 'check': rule.check_str}
    if getattr(rule, 'description', None):
        result['description'] = text(rule.description)
    if getattr(rule, 'scope_types', None):
        result['scopes'] = sorted(rule.scope_types)
    operations = [
        (method, operation['path'])
        for operation in getattr(rule, 'operations', None) or ()
        for method in ([operation['method']] if isinstance(operation['method'], str) else operation['method'])
    ]
    if operations:
        result['operations'] = operations
    old = rule.deprecated_rule  # an empty list where there is none
    if old:
        result['deprecated'] = {'name': old.name, 'check': old.check_str}
    if rule.deprecated_for_removal:
        result['removal'] = True
    return result


def policies_of(names):
    """The rules that the packages register, each once, sorted."""
    entries = [entry for entry in importlib.metadata.entry_points(group='oslo.policy.policies') if entry.name in names]
    rules = {rule.name: rule_of(rule) for entry in sorted(entries, key=lambda entry: entry.name) for rule in entry.load()()}
    return [rules[name] for name in sorted(rules)]


def applications(distribution):
    """Modules `<package>.wsgi...` that hold a WSGI application, by reading them: running them would start a service."""
    found = set()
    for file in distribution.files or ():
        if not re.fullmatch(r'[a-z_]+/wsgi(/[a-z_/]+)?\.py', str(file)):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Assign) and any(getattr(to, 'id', '') == 'application' for to in node.targets):
                found.add(('', str(file)[:-3].removesuffix('/__init__').replace('/', '.') + ':application'))
    return found


def debian_version(package):
    """Of the package as the root has it: of what is installed, or of what was only unpacked."""
    with open('/var/lib/dpkg/status') as status:
        found = re.search(rf'^Package: {re.escape(package)}\n(?:.+\n)*?Version: (.+)$', status.read(), re.MULTILINE)
    if found:
        return found[1]
    for path in glob.glob(f'/usr/share/doc/{package}/changelog*.gz'):
        with gzip.open(path, 'rt') as changelog:
            return re.match(r'\S+ \((\S+)\)', changelog.readline())[1]
    raise SystemExit(f'Debian has no package {package} here')


def normal(name):
    """PyPI's form of a distribution's name."""
    return re.sub(r'[-_.]+', '-', name).lower()


def required(distribution):
    """Names of the distributions that it needs, without those of extras."""
    lines = [line for line in distribution.requires or () if 'extra ==' not in line]
    return sorted({normal(re.match(r'[A-Za-z0-9._-]+', line).group()) for line in lines})


def entries_of(owners, group):
    return [entry for owner in owners for entry in owner.entry_points if entry.group == group]


def plugins():
    """{auth_type: options} of keystoneauth."""
    loaders = loading.get_available_plugin_loaders()
    return {name: spread([(None, loaders[name].get_options())]) for name in sorted(loaders)}


def answer(question):
    """distributions: the service's own. also: further namespaces. required: whether those of the libraries that the
    distributions require are taken. without: namespaces that are not. modules: {name: 'module:function', or 'module:CONF'}. plugins:
    whether keystoneauth's are listed. directory: whether the packages' place is to be the working directory."""
    everything = {normal(found.name): found for found in importlib.metadata.distributions()}
    own = [everything[normal(name)] for name in question['distributions']]
    if question.get('directory'):
        os.chdir(own[0].locate_file(''))
    # As the package's programs do it: its own before those of libraries.
    modules = {name: listing_of(name, place) for name, place in question.get('modules', {}).items()}
    libraries = [everything[name] for one in own for name in required(one) if name in everything]
    every = [(entry, owner) for owner in everything.values() for entry in entries_of([owner], 'oslo.config.opts')]
    names = {}
    for origin, entries in (
        ('own', [(entry, owner) for entry, owner in every if owner in own]),
        ('required', [(entry, owner) for entry, owner in every if owner in libraries and question.get('required')]),
        ('sample', [(entry, owner) for entry, owner in every if entry.name in question.get('also', ())]),
    ):
        for entry, owner in entries:
            if entry.name not in question.get('without', ()):
                names.setdefault(entry.name, {'owner': normal(owner.name), 'origin': origin, 'entry': entry})
    absent = [name for name in question.get('also', ()) if name not in names]
    if absent:
        raise SystemExit(f'no package here has the namespace {absent[0]}')
    unreadable = {}
    for name in list(names):
        try:
            names[name].pop('entry').load()
        # Of a library that the distribution has not, or that would register what the package has registered otherwise.
        except (ImportError, cfg.DuplicateOptError) as error:
            unreadable[name] = text(error)
            del names[name]
    listed = options_of(names, modules)
    for name in modules:
        names[name] = {'owner': normal(own[0].name), 'origin': 'own'}
    return {
        'versions': {normal(one.name): one.version for one in own},
        'debian': debian_version(question['debian']) if 'debian' in question else '',
        'namespaces': {name: {**names[name], 'options': options} for name, options in listed.items()},
        'unreadable': unreadable,
        'policies': policies_of({entry.name for entry in entries_of(own, 'oslo.policy.policies')}),
        'programs': sorted((entry.name, entry.value) for entry in entries_of(own, 'console_scripts')),
        'wsgi': sorted(
            {(entry.name, entry.value) for entry in entries_of(own, 'wsgi_scripts')}.union(*map(applications, own))
        ),
        'plugins': plugins() if question.get('plugins') else {},
    }


def pretend(host, address, processors):
    """Makes this the machine of that name."""
    os.cpu_count = os.process_cpu_count = multiprocessing.cpu_count = lambda: processors
    os.uname = lambda: os.uname_result(('Linux', host, '6.1.0', '', 'x86_64'))
    platform.node = socket.gethostname = lambda: host
    socket.getfqdn = lambda name='': name or host
    netutils.get_my_ipv4 = netutils._get_my_ipv4_address = lambda: address


def mark(answered, elsewhere):
    """Notes which defaults another machine has otherwise, and drops such limits."""
    for name, namespace in answered['namespaces'].items():
        for option, other in zip(namespace['options'], elsewhere['namespaces'][name]['options'], strict=True):
            if option['default'] != other['default']:
                option['sample'] = True
            for limit in ('min', 'max'):
                if option.get(limit) != other.get(limit):
                    del option[limit]


def main():
    question = json.load(sys.stdin)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        pretend('other.invalid', '192.0.2.2', 24)
        with os.fdopen(write, 'w') as pipe:
            json.dump(answer(question), pipe)
        os._exit(0)
    os.close(write)
    pretend('host.invalid', '192.0.2.1', 1)
    answered = answer(question)
    with os.fdopen(read) as pipe:
        mark(answered, json.load(pipe))
    print(json.dumps(answered, sort_keys=True), flush=True)


if __name__ == '__main__':
    main()
