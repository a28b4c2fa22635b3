#if SettingsPage
  import PreferencesSettings

  /// The page as text.
  struct PageHTML {
    let title: String
    let groups: [SettingGroup]
    let states: [SettingState]
    let path: String
    let formToken: String
    /// The setting whose reset needs a second press.
    var asking: Int?

    var text: String {
      var html = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <title>\(escaped(title))</title>
        <link rel="icon" href="\(escaped(path))/icon.svg">
        <link rel="stylesheet" href="\(escaped(path))/page.css">
        <script src="\(escaped(path))/page.js" defer></script>
        </head>
        <body data-events="\(escaped(path))/events">
        <main>
        <h1>\(escaped(title))</h1>
        <p id="connection" role="status"></p>
        <noscript><p class="info">Without JavaScript, press Save after each change, and reload the page to see changes
        that were made elsewhere.</p></noscript>

        """
      var id = 0
      for (number, group) in groups.enumerated() {
        let heading = group.title.isEmpty ? "" : "<h2 id=\"group\(number)\">\(escaped(group.title))</h2>\n"
        html += "<section\(heading.isEmpty ? "" : " aria-labelledby=\"group\(number)\"")>\n\(heading)"
        for setting in group.settings {
          html += form(setting, states[id])
          id += 1
        }
        html += "</section>\n"
      }
      return html + "</main>\n</body>\n</html>\n"
    }

    /// Returns a page that goes to `path` without leaving an entry in the history.
    static func step(to path: String) -> String {
      """
      <!DOCTYPE html>
      <html lang="en"><head><meta charset="utf-8"><title>Settings</title>
      <link rel="icon" href="\(escaped(path))icon.svg">
      <meta http-equiv="refresh" content="0; url=\(escaped(path))"></head>
      <body><p><a href="\(escaped(path))">Settings</a></p></body></html>

      """
    }

    /// Enter presses the first button. A hidden first button leaves the order of the visible buttons free.
    private func form(_ setting: any AnySetting, _ state: SettingState) -> String {
      let id = "s\(state.id)"
      let info = setting.info.isEmpty ? "" : "<p class=\"info\" id=\"\(id)-info\">\(escaped(setting.info))</p>\n"
      return """
        <form id="\(id)" method="post" action="\(escaped(path))/change/\(state.id)" novalidate>
        <input type="hidden" name="token" value="\(formToken)">
        <button name="change" value="set" hidden></button>
        <div class="words"><label id="\(id)-label" for="\(id)-field">\(escaped(setting.label))</label>
        \(info)</div>
        <div class="control">\(control(setting, state))
        \(resetButton(setting, state))</div>
        <p class="problem" id="\(id)-problem" aria-live="polite">\(escaped(state.problem))</p>
        </form>

        """
    }

    private func resetButton(_ setting: any AnySetting, _ state: SettingState) -> String {
      let title = setting.isHidden ? "Remove" : "Reset"
      let isAsking = asking == state.id
      let id = "s\(state.id)"
      return isAsking ? button("remove", "Really \(title.lowercased())", id: id) : button("reset", title, id: id)
    }

    private func control(_ setting: any AnySetting, _ state: SettingState) -> String {
      let id = "s\(state.id)"
      let about = """
        id="\(id)-field" aria-describedby="\(setting.info.isEmpty ? "" : "\(id)-info ")\(id)-problem"
        """
      let field = "\(about) aria-invalid=\"\(!state.problem.isEmpty)\""
      let save = "<noscript><button name=\"change\" value=\"set\">Save</button></noscript>"
      // To the right of the control; also read aloud when it changes.
      let output = "<output id=\"\(id)-value\" for=\"\(id)-field\">\(escaped(state.formatted))</output>"
      func input(_ type: String, _ more: String, _ text: String = state.text) -> String {
        "<input type=\"\(type)\" name=\"text\" value=\"\(escaped(text))\" \(field)\(more)>"
      }
      func range(_ min: String, _ max: String, _ step: String) -> String {
        " autocomplete=\"off\" min=\"\(escaped(min))\" max=\"\(escaped(max))\" step=\"\(escaped(step))\""
      }
      switch setting.control {
      case .toggle:
        let isOn = state.text == "true"
        // A button cannot be invalid: its message is its description.
        return """
          <button role="switch" name="text" value="\(!isOn)" aria-checked="\(isOn)" aria-labelledby="\(id)-label" \
          \(about)></button>
          """
      case .stepper(let min, let max, let step):
        return button("decrease", "−", "Decrease", id: id, isOff: state.isAtMin)
          + input("number", range(min, max, step)) + button("increase", "+", "Increase", id: id, isOff: state.isAtMax)
          + output + save
      case .slider(let min, let max, let step):
        return input("range", range(min, max, step) + " aria-valuetext=\"\(escaped(state.formatted))\"") + output + save
      case .choice(let choices):
        let options = choices.map { choice in
          "<option value=\"\(escaped(choice.text))\"\(choice.text == state.text ? " selected" : "")>"
            + "\(escaped(choice.title))</option>"
        }
        let none = choices.contains { $0.text == state.text } ? "" : "<option value=\"\" selected disabled>–</option>"
        return "<select name=\"text\" \(field)>\(none)\(options.joined())</select>\(save)"
      // It is changed elsewhere: a line of text in a browser has no line breaks.
      case .text where SettingLines.hasSeveral(state.text):
        return input("text", " readonly autocomplete=\"off\" spellcheck=\"false\"")
      case .text:
        return input("text", " autocomplete=\"off\" spellcheck=\"false\"") + save
      case .readOnly:
        return input("text", " readonly")
      case .secret:
        return output + input("password", " autocomplete=\"new-password\"", "") + button("set", "Save", id: id)
      }
    }

    private func button(
      _ change: String, _ title: String, _ name: String? = nil, id: String, isOff: Bool? = nil
    ) -> String {
      """
      <button name="change" value="\(change)" id="\(id)-\(change)" aria-label="\(name ?? title)" \
      aria-labelledby="\(id)-\(change) \(id)-label"\(isOff.map { " aria-disabled=\"\($0)\"" } ?? "")>\(title)</button>
      """
    }
  }

  /// The text as the content of an element or a quoted attribute.
  private func escaped(_ text: String) -> String {
    var html = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": html += "&amp;"
      case "<": html += "&lt;"
      case ">": html += "&gt;"
      case "\"": html += "&quot;"
      case "'": html += "&#39;"
      default: html.unicodeScalars.append(scalar)
      }
    }
    return html
  }
#endif
