# SPDX-License-Identifier: MIT
"""As much of JSON Schema (draft 2020-12) as our own schemas use. A keyword that it does not know is an error, so that nothing
goes unchecked because nobody checks it."""
import re

ANNOTATIONS = {"$schema", "$id", "$defs", "title", "description"}
TYPES = {"object": lambda v: isinstance(v, dict), "array": lambda v: isinstance(v, list), "string": lambda v: isinstance(v, str),
         "boolean": lambda v: isinstance(v, bool), "null": lambda v: v is None,
         "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
         "integer": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool) and v == int(v)}


class Checker:
    """`seen` has each member that a schema names and some value had; `unnamed` each that no schema names."""

    def __init__(self, root):
        self.root, self.seen, self.unnamed = root, set(), set()

    def resolve(self, reference):
        assert reference.startswith("#/"), reference
        schema = self.root
        for part in reference[2:].split("/"):
            schema = schema[part]
        return schema, reference

    def problems(self, value, schema=None, place="#", path=""):
        """`place` is where the schema stands, `path` where the value does."""
        schema = self.root if schema is None else schema
        for keyword, of in schema.items():
            if keyword in ANNOTATIONS:
                continue
            check = getattr(self, "check_" + keyword.replace("$", ""), None)
            assert check, f"the checker does not know '{keyword}' at {place}"
            yield from check(value, of, schema, place, path)

    def check_ref(self, value, of, schema, place, path):
        target, name = self.resolve(of)
        yield from self.problems(value, target, name, path)

    def check_type(self, value, of, schema, place, path):
        if not any(TYPES[t](value) for t in ([of] if isinstance(of, str) else of)):
            yield f"{path}: {value!r} is no {of}"

    def check_enum(self, value, of, schema, place, path):
        if value not in of:
            yield f"{path}: {value!r} is none of {of}"

    def check_const(self, value, of, schema, place, path):
        if value != of:
            yield f"{path}: {value!r} is not {of!r}"

    def check_minimum(self, value, of, schema, place, path):
        if TYPES["number"](value) and value < of:
            yield f"{path}: {value} is less than {of}"

    def check_anyOf(self, value, of, schema, place, path):
        if all(list(self.problems(value, one, place, path)) for one in of):
            yield f"{path}: {value!r} is none of what it may be"

    def check_required(self, value, of, schema, place, path):
        for name in of if isinstance(value, dict) else []:
            if name not in value:
                yield f"{path}: '{name}' is missing"

    def check_items(self, value, of, schema, place, path):
        for i, item in enumerate(value if isinstance(value, list) else []):
            yield from self.problems(item, of, place + "/items", f"{path}/{i}")

    def check_properties(self, value, of, schema, place, path):
        for name, member in value.items() if isinstance(value, dict) else []:
            if name in of:
                self.seen.add(f"{place}/{name}")
                yield from self.problems(member, of[name], f"{place}/{name}", f"{path}/{name}")
            elif "additionalProperties" not in schema and not any(re.search(p, name) for p in schema.get("patternProperties", {})):
                self.unnamed.add(f"{place}/{name}")

    def check_patternProperties(self, value, of, schema, place, path):
        for name, member in value.items() if isinstance(value, dict) else []:
            for pattern, one in of.items():
                if re.search(pattern, name):
                    self.seen.add(f"{place}/{pattern}")
                    yield from self.problems(member, one, f"{place}/{pattern}", f"{path}/{name}")

    def check_additionalProperties(self, value, of, schema, place, path):
        for name, member in value.items() if isinstance(value, dict) else []:
            if name in schema.get("properties", {}) or any(re.search(p, name) for p in schema.get("patternProperties", {})):
                continue
            if not schema.get("properties"):
                self.seen.add(f"{place}/*")
            yield from self.problems(member, of, f"{place}/*", f"{path}/{name}")


def named(schema, place="#"):
    """Every member that the schema names, as Checker.seen has them."""
    for name, one in schema.get("properties", {}).items():
        yield f"{place}/{name}"
        yield from named(one, f"{place}/{name}")
    for pattern, one in schema.get("patternProperties", {}).items():
        yield f"{place}/{pattern}"
        yield from named(one, f"{place}/{pattern}")
    if "items" in schema:
        yield from named(schema["items"], place + "/items")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from named(schema["additionalProperties"], place + "/*")
    for name, one in schema.get("$defs", {}).items():
        yield from named(one, f"#/$defs/{name}")
