// What AsyncAPI's own parser has to say about each document of a JSON object on standard input: lint.js BUNDLE
globalThis.self = globalThis;
const Parser = require(require("path").resolve(process.argv[2]));
const documents = JSON.parse(require("fs").readFileSync(0, "utf8"));

async function main() {
  const parser = new Parser();
  const told = {};
  for (const [name, document] of Object.entries(documents)) {
    const found = await parser.validate(JSON.stringify(document));
    told[name] = found.map(({ code, severity, message, path }) => ({ code, severity, message, path: path.join(".") }));
  }
  console.log(JSON.stringify(told));
}

main();
