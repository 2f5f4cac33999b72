# python3 - MODULE:NAME or MODULE:FACTORY(): exits 0 when the module has the name, without running it.
import ast
import importlib.util
import sys

module, _, name = sys.argv[1].partition(':')
name = name.removesuffix('()')
try:
    spec = importlib.util.find_spec(module)
except ModuleNotFoundError as error:
    sys.exit(str(error))
if spec is None:
    sys.exit(f'no module {module}')
names = set()
for node in ast.walk(ast.parse(open(spec.origin).read())):
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        names.add(node.name)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        names.add(node.id)
    elif isinstance(node, ast.alias):
        names.add(node.asname or node.name)
if name not in names:
    sys.exit(f'{module} has no {name}')
