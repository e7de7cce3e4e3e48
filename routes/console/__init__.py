"""The console: web pages for players, owners of game servers, and operators, made of the public interface alone.

The pages lie in `static/`: modules that browsers load as they are, without a build step. `/app` is one page for all
addresses below it; `static/pages.js` says which address shows what. `static/client/` is the client that the pages use
themselves, for everybody's use at `/client/partyline.js`.
"""
