"""Holds configuration against the options that the installed programs really have.

    python3 options.py NAMESPACE[,NAMESPACE...] FILE...

`distribution/NAME` stands for the namespaces of a distribution of Python and of the libraries that it requires.

Run inside a container: reads the files, and OS_<GROUP>__<OPTION> (oslo.config's environment driver) of its own
environment, which is the one that the container's specification gives all processes. Prints one line for each mistake:
an unknown group or option, a value that is not of the option's type, several values for an option that takes one, an
environment variable of an option that takes many.
"""

import importlib.metadata
import os
import re
import sys

from keystoneauth1 import loading
from oslo_config import cfg, iniparser


def lists_of(words):
    """What lists the options of the words. A library's own list may need modules that packages leave out: its tests."""
    points = importlib.metadata.entry_points(group="oslo.config.opts")
    for word in words:
        if not word.startswith("distribution/"):
            yield points[word].load()
            continue
        name = word.removeprefix("distribution/")
        required = [re.split(r"[^A-Za-z0-9._-]", one)[0] for one in importlib.metadata.requires(name) or []]
        wanted = {re.sub(r"[-_.]+", "-", one).lower() for one in [name, *required]}
        for point in points:
            if re.sub(r"[-_.]+", "-", point.dist.name).lower() not in wanted:
                continue
            try:
                yield point.load()
            except ModuleNotFoundError:
                continue


class Options:
    """The options of the namespaces: group -> option name -> option."""

    def __init__(self, namespaces):
        self.groups = {}
        for options_of in lists_of(namespaces):
            for group, options in options_of():
                self.add(group, options)
        # What every program has, whoever lists it (oslo_config.cfg.ConfigOpts).
        self.add("DEFAULT", [cfg.MultiStrOpt("config-file"), cfg.MultiStrOpt("config-dir")])

    def add(self, group, options):
        known = self.groups.setdefault(str(getattr(group, "name", group) or "DEFAULT"), {})
        for option in options:
            for name in (option.name, option.dest):
                known[name] = option
            for old in option.deprecated_opts:
                where = known if old.group is None else self.groups.setdefault(old.group, {})
                where.setdefault(old.name or option.name, option)
                where.setdefault((old.name or option.name).replace("-", "_"), option)

    def add_plugins(self, parsed):
        """Options that come with a value: of the authentication plugin, of Glance's stores, of backends."""
        for group, values in parsed.items():
            for kind in values.get("auth_type", []):
                self.add(group, loading.get_auth_plugin_conf_options(loading.get_plugin_loader(kind)))
        for value in parsed.get("DEFAULT", {}).get("enabled_share_backends", []):
            for name in value.split(","):
                # manila/share/configuration.py: a backend's group has every option that is listed in [DEFAULT].
                self.groups.setdefault(name.strip(), {}).update(self.groups["DEFAULT"])
        drivers = importlib.metadata.entry_points(group="glance_store.drivers")
        for value in parsed.get("DEFAULT", {}).get("enabled_backends", []):
            for name, _, kind in (one.strip().partition(":") for one in value.split(",")):
                if kind == "":
                    # cinder/volume/configuration.py: a backend of Cinder, whose group has the options of [backend_defaults].
                    self.groups.setdefault(name, {}).update(self.groups["backend_defaults"])
                    continue
                from glance_store import multi_backend

                self.add("glance_store", multi_backend._STORE_OPTS)
                for group in (name, "os_glance_staging_store", "os_glance_tasks_store"):
                    self.add(group, drivers[kind].load().OPTIONS)


class Parser(iniparser.BaseParser):
    def __init__(self):
        self.values, self.section = {}, "DEFAULT"

    def new_section(self, section):
        self.section = section
        self.values.setdefault(section, {})

    def assignment(self, key, value):
        self.values.setdefault(self.section, {}).setdefault(key, []).append("\n".join(value))

    def comment(self, _):
        pass


def check(options, group, name, values):
    if group not in options.groups:
        yield f"[{group}] {name}: no program of this image has this group"
        return
    option = options.groups[group].get(name)
    if option is None:
        yield f"[{group}] {name}: there is no such option"
        return
    if len(values) > 1 and not option.multi:
        yield f"[{group}] {name}: given {len(values)} times, takes one value"
    for value in values:
        try:
            option.type(value)
        except (ValueError, TypeError) as error:
            yield f"[{group}] {name}: {error}"
    if option.deprecated_for_removal:
        yield f"[{group}] {name}: deprecated, {option.deprecated_reason or 'without a reason'}"


def environment():
    return {name: value for name, value in os.environ.items() if re.fullmatch(r"OS_[A-Z0-9_]+?__[A-Z0-9_]+", name)}


def main():
    namespaces, files = sys.argv[1].split(","), sys.argv[2:]
    parsed = {}
    for path in files:
        parser = Parser()
        with open(path) as file:
            parser.parse(file)
        for group, values in parser.values.items():
            # As oslo.config: the last file that has an option counts.
            parsed.setdefault(group, {}).update(values)
    options = Options(namespaces)
    options.add_plugins(parsed)
    for group, values in parsed.items():
        for name, given in values.items():
            for problem in check(options, group, name, given):
                print(problem)
    by_variable = {
        f"OS_{group.upper()}__{name.upper().replace('-', '_')}": (group, name)
        for group, known in options.groups.items()
        for name in known
    }
    for variable, value in environment().items():
        if variable not in by_variable:
            print(f"{variable}: there is no such option")
            continue
        group, name = by_variable[variable]
        option = options.groups[group][name]
        if option.multi:
            print(f"{variable}: the option takes many values, the environment gives one")
        for problem in check(options, group, name, [value]):
            print(f"{variable}: {problem.replace(value, '***') if len(value) > 3 else problem}")


main()
